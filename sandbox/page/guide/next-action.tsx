import { useSession } from '../session.ts';
import { addressAt } from './acting.ts';
import { InsertButton, PlaceLink, PrepareButton } from './guide-step.tsx';
import {
  actionsOf,
  GUIDE_STEPS,
  type GuideAction,
  type GuidePlace,
  type GuideStep,
} from './steps.ts';
import type { GuideState } from './use-guide.ts';

/** The open step in the line of a phone; null when all are done. */
export function StepName({ step }: { step: GuideStep | null }) {
  if (step === null) return <span className="guide-line">All six steps are done</span>;
  return (
    <span className="guide-line">
      <span className="visually-hidden">Guide, step </span>
      {GUIDE_STEPS.indexOf(step) + 1} of {GUIDE_STEPS.length}: <b>{step.title}</b>
    </span>
  );
}

/** The next button of the open step, because the line of a phone has room for one. */
export function NextAction({ guide, step }: { guide: GuideState; step: GuideStep }) {
  const { address } = useSession();
  const isHere = (place: GuidePlace) => {
    const { as, channel } = addressAt(place);
    return as === address.as && channel === address.channel;
  };
  const actions = actionsOf(step);
  const used = guide.used?.step === step.id ? guide.used.presses : 0;
  const presses = guide.done.includes(step.id) ? actions.length : used;
  // What was pressed is not offered again, but a place to which one can return is.
  const places = actions.filter(({ kind }) => kind === 'act-as');
  const next = [...actions.slice(presses), ...places].find(
    (action) => action.kind !== 'act-as' || !isHere(action.place),
  );
  return next === undefined ? null : (
    <ActionButton action={next} onUse={() => guide.use(step.id)} />
  );
}

interface ActionProps {
  readonly action: GuideAction;
  readonly onUse: () => void;
}

function ActionButton({ action, onUse }: ActionProps) {
  if (action.kind === 'insert') return <InsertButton command={action.command} onUse={onUse} />;
  if (action.kind === 'prepare') return <PrepareButton what={action.what} onUse={onUse} />;
  return <PlaceLink place={action.place} onUse={onUse} />;
}
