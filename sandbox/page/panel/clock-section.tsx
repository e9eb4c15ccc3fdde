import type { ClockMove, ClockState } from '../../protocol.ts';
import { Clock } from '../frame/clock.tsx';
import { useServed } from '../server.ts';
import { useSession } from '../session.ts';

const MOVES: readonly { readonly move: ClockMove; readonly label: string }[] = [
  { move: '5-minutes', label: '+5 min' },
  { move: '1-hour', label: '+1 h' },
  { move: '1-day', label: '+1 day' },
  { move: 'next-morning', label: 'Next morning' },
];

/** The clock of the whole sandbox, which people move forward. */
export function ClockSection({ version }: { version: number }) {
  const { readDates } = useSession();
  const { state, problem, send } = useServed<ClockState>('clock', version);
  const isMoving = state?.isMoving === true;

  // The button is not disabled while the clock moves: it would lose the focus.
  function start(move: ClockMove) {
    if (!isMoving) send('clock', { move });
  }

  return (
    <section>
      <h3>Clock</h3>
      <p className="clock-now">
        <b>
          <Clock />
        </b>
        <span className="quiet">{isMoving ? 'moving…' : readDates().timeZone}</span>
      </p>
      <div className="clock-moves">
        {MOVES.map(({ move, label }) => (
          <button
            key={move}
            type="button"
            className="button"
            aria-disabled={isMoving}
            onClick={() => start(move)}
          >
            {label}
          </button>
        ))}
      </div>
      <p className="quiet" role="status">
        {problem ?? 'The bot, Slack and both APIs move together. What is due in between happens.'}
      </p>
    </section>
  );
}
