import { useCallback, useEffect, useState } from 'react';
import type { GuideProgress, GuideStepId } from '../../protocol.ts';
import { read } from '../server.ts';

const CLOSED = 'signalbox.guide';

/** Whether the guide is open. The browser keeps it until the person opens the guide again. */
export function useGuideOpen(): readonly [isOpen: boolean, toggle: () => void] {
  const [isOpen, setOpen] = useState(() => localStorage.getItem(CLOSED) !== 'closed');
  const toggle = useCallback(
    () =>
      setOpen((before) => {
        localStorage.setItem(CLOSED, before ? 'closed' : 'open');
        return !before;
      }),
    [],
  );
  return [isOpen, toggle];
}

const NOTHING_DONE: readonly GuideStepId[] = [];

/** The steps that the simulators have seen, read again for each version of the state. */
export function useGuideProgress(version: number): readonly GuideStepId[] {
  const [done, setDone] = useState(NOTHING_DONE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect reads again for each version
  useEffect(() => {
    read<GuideProgress>('guide').then(
      (progress) => setDone(progress.done),
      // The page shows that the sandbox does not answer; the guide keeps what it knows.
      () => undefined,
    );
  }, [version]);
  return done;
}
