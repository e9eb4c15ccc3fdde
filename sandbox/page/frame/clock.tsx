import { useEffect, useState } from 'react';
import { useSession } from '../session.ts';
import { clockDay, timeOf } from '../text/slack-date.ts';

const DRAWN_EVERY_MS = 5_000;

/** The time of the sandbox in the zone of the person, drawn again as it passes. */
export function Clock() {
  const { readDates } = useSession();
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((count) => count + 1), DRAWN_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const reading = readDates();
  return (
    <span className="clock">
      <span className="clock-day">{clockDay(reading)} · </span>
      {timeOf(reading.now, reading)}
    </span>
  );
}
