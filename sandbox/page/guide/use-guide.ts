import { useCallback, useEffect, useState } from 'react';
import type { GuideProgress, GuideStepId } from '../../protocol.ts';
import { read } from '../server.ts';

const CLOSED = 'signalbox.guide';

/** What the guide keeps while the person changes. */
export type GuideState = ReturnType<typeof useGuide>;

interface UsedStep {
  readonly step: GuideStepId;
  readonly presses: number;
}

/** `version` grows with each change on the server. */
export function useGuide(version: number) {
  const [isOpen, toggle] = useGuideOpen();
  const done = useGuideProgress(isOpen ? version : null);
  // The last step of which a button of the one-line guide was pressed, and the number of presses.
  const [used, setUsed] = useState<UsedStep | null>(null);
  // A link to a person and a channel is not the first page.
  const [isLink, setLink] = useState(() => window.location.search !== '');
  const begin = useCallback(() => setLink(true), []);
  // False on the first page, until a person begins: the guide then says what Signalbox is.
  const isBegun = isLink || done.length > 0;
  const use = useCallback((step: GuideStepId) => {
    setUsed((before) => ({ step, presses: before?.step === step ? before.presses + 1 : 1 }));
  }, []);
  return { isOpen, toggle, isBegun, begin, done, used, use };
}

/** Whether the guide is open. The browser keeps it until the person opens the guide again. */
function useGuideOpen(): readonly [isOpen: boolean, toggle: () => void] {
  // The links of serve.ts leave the guide out, because it is about Signalbox.
  const [isOpen, setOpen] = useState(
    () =>
      localStorage.getItem(CLOSED) !== 'closed' && !window.location.search.includes('guide=off'),
  );
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

/** The steps that the simulators have seen, read again for each version of the state; null: not read. */
function useGuideProgress(version: number | null): readonly GuideStepId[] {
  const [done, setDone] = useState(NOTHING_DONE);
  useEffect(() => {
    if (version === null) return;
    read<GuideProgress>('guide').then(
      (progress) => setDone(progress.done),
      // The page shows that the sandbox does not answer; the guide keeps what it knows.
      () => undefined,
    );
  }, [version]);
  return done;
}
