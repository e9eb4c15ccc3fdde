import { useSession } from '../session.ts';
import { addressAt, useInsert, usePrepare, useVisit } from './acting.ts';
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

interface ActionProps<Kind extends GuideAction['kind']> {
  readonly action: GuideAction & { readonly kind: Kind };
  readonly onUse: () => void;
}

function ActionButton({ action, onUse }: ActionProps<GuideAction['kind']>) {
  if (action.kind === 'insert') return <InsertButton {...{ action, onUse }} />;
  if (action.kind === 'prepare') return <PrepareButton {...{ action, onUse }} />;
  return <VisitButton place={action.place} onUse={onUse} />;
}

function InsertButton({ action, onUse }: ActionProps<'insert'>) {
  const insert = useInsert(action.command);
  const onClick = () => {
    onUse();
    insert();
  };
  return (
    <button type="button" className="guide-button primary" onClick={onClick}>
      Insert
    </button>
  );
}

function PrepareButton({ action, onUse }: ActionProps<'prepare'>) {
  const { shortLabel, isRefused, prepare } = usePrepare(action.what, onUse);
  return (
    <button type="button" className="guide-button" onClick={prepare}>
      {isRefused ? 'Try again' : shortLabel}
    </button>
  );
}

function VisitButton({ place, onUse }: { place: GuidePlace; onUse: () => void }) {
  const { name, link } = useVisit(place);
  return (
    <a className="guide-button" {...link(onUse)}>
      Act as {name}
    </a>
  );
}
