import { useId, useState } from 'react';
import type { GuideStepId } from '../../protocol.ts';
import { useIsPhone } from '../device.ts';
import { Icon, IconButton } from '../frame/icon.tsx';
import { useSession } from '../session.ts';
import { useInsert } from './acting.ts';
import { GuideStepBody } from './guide-step.tsx';
import { NextAction, StepName } from './next-action.tsx';
import { FIRST_COMMAND, GUIDE_STEPS, type GuideStep } from './steps.ts';
import type { GuideState } from './use-guide.ts';

/** What Signalbox is, and one button; then the steps. */
export function Guide({ guide }: { guide: GuideState }) {
  return guide.isBegun ? <Steps guide={guide} /> : <Introduction guide={guide} />;
}

function Introduction({ guide }: { guide: GuideState }) {
  const insert = useInsert(FIRST_COMMAND);
  const onBegin = () => {
    guide.begin();
    guide.use('request');
    insert();
  };
  return (
    <aside className="guide" aria-label="Guide">
      <div className="guide-intro">
        <h2>Signalbox</h2>
        <p>
          Engineers operate an analytics database from Slack: Signalbox shows what a command will
          change, asks the right people, sends it once and records it.
        </p>
        <p>This page is a Slack to try it in. Nothing leaves your machine.</p>
        <button type="button" className="guide-button primary" onClick={onBegin}>
          Write the first command
        </button>
      </div>
    </aside>
  );
}

/** Five steps through the story. A step is done when the simulators have seen it. */
function Steps({ guide }: { guide: GuideState }) {
  const { done, toggle } = guide;
  const { address } = useSession();
  const current = GUIDE_STEPS.find(({ id }) => !done.includes(id)) ?? null;
  // At the end the last step stays open: its result is one click away.
  const shown = current ?? GUIDE_STEPS.at(-1) ?? null;
  const [chosen, setChosen] = useState<GuideStepId | 'none' | null>(null);
  const [doneBefore, setDoneBefore] = useState(done);
  // A finished step leads to the next one.
  if (done.length !== doneBefore.length) {
    setDoneBefore(done);
    setChosen(null);
  }
  const open = chosen ?? shown?.id;
  const isPhone = useIsPhone();
  const [isClosed, setClosed] = useState(false);
  // On a phone a step that leads to a place folds the guide, so that the place is visible.
  const [openedAt, setOpenedAt] = useState<typeof address | null>(null);
  const isFolded = isPhone ? openedAt !== address : isClosed;
  const fold = () => (isPhone ? setOpenedAt(isFolded ? address : null) : setClosed(!isFolded));
  const isLine = isPhone && isFolded;
  return (
    <aside className={isFolded ? 'guide folded' : 'guide'} aria-label="Guide">
      <header className="guide-head">
        <button type="button" className="guide-fold" aria-expanded={!isFolded} onClick={fold}>
          {isPhone && <span className="chevron" aria-hidden="true" />}
          {isLine ? <StepName step={current} /> : <Progress done={done.length} />}
        </button>
        {isLine ? (
          shown && <NextAction guide={guide} step={shown} />
        ) : (
          <IconButton
            icon="close"
            label="Close the guide"
            title="Close. It comes back from the Help menu."
            onClick={toggle}
          />
        )}
      </header>
      <ol className="guide-steps">
        {GUIDE_STEPS.map((step, at) => (
          <StepRow
            key={step.id}
            step={step}
            number={at + 1}
            isDone={done.includes(step.id)}
            isOpen={step.id === open}
            toggle={() => setChosen(step.id === open ? 'none' : step.id)}
          />
        ))}
      </ol>
      {current === null && (
        <p className="guide-end">
          All six steps are done. Type / in a channel to see every command, or open the Home tab of
          Signalbox.
        </p>
      )}
    </aside>
  );
}

function Progress({ done }: { done: number }) {
  return (
    <>
      <h2>Guide</h2>
      <span className="guide-count">
        {done} of {GUIDE_STEPS.length} done
      </span>
    </>
  );
}

interface RowProps {
  readonly step: GuideStep;
  readonly number: number;
  readonly isDone: boolean;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function StepRow({ step, number, isDone, isOpen, toggle }: RowProps) {
  const bodyId = useId();
  return (
    <li className={isDone ? 'guide-step done' : 'guide-step'} data-step={step.id}>
      <button
        type="button"
        className="guide-title"
        aria-expanded={isOpen}
        aria-controls={bodyId}
        onClick={toggle}
      >
        <span className="guide-mark" aria-hidden="true">
          {isDone ? <Icon name="check" size={14} /> : number}
        </span>
        <span>{step.title}</span>
        {isDone && <span className="visually-hidden">, done</span>}
      </button>
      <div id={bodyId}>{isOpen && <GuideStepBody step={step} />}</div>
    </li>
  );
}
