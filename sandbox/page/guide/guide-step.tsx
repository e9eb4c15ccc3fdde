import { Avatar } from '../frame/avatar.tsx';
import { useInsert, usePrepare, useVisit } from './acting.ts';
import type { CommandToSend, GuideAction, GuidePlace, GuideStep } from './steps.ts';

export function GuideStepBody({ step }: { step: GuideStep }) {
  const { command, prepare, places } = step;
  return (
    <div className="guide-body">
      <p>{step.text}</p>
      {prepare === 'fault' && <PrepareButton what="fault" />}
      {command !== undefined && <GuideCommand command={command} />}
      {prepare === 'morning' && <PrepareButton what="morning" />}
      {places.length > 0 && (
        <div className="guide-places">
          <span>Act as</span>
          {places.map((place) => (
            <PlaceLink key={`${place.as} ${place.channel}`} place={place} />
          ))}
        </div>
      )}
    </div>
  );
}

/** The command to paste. Insert acts as its sender, opens the channel and fills the composer. */
function GuideCommand({ command }: { command: CommandToSend }) {
  const { name, title } = useVisit(command);
  const { line } = command;
  return (
    <div className="guide-command">
      <code>{line}</code>
      <div className="guide-command-foot">
        <span>
          as {name} in {title}
        </span>
        <button
          type="button"
          className="guide-button"
          onClick={() => void navigator.clipboard.writeText(line)}
        >
          Copy
        </button>
        <InsertButton command={command} />
      </div>
    </div>
  );
}

/** Of a button in the line of a phone, which has room for a short one, and counts its presses. */
interface InLine {
  readonly onUse?: () => void;
}

export function InsertButton({ command, onUse }: InLine & { command: CommandToSend }) {
  const insert = useInsert(command);
  const onClick = () => {
    onUse?.();
    insert();
  };
  return (
    <button type="button" className="guide-button primary" onClick={onClick}>
      Insert
    </button>
  );
}

export function PlaceLink({ place, onUse }: InLine & { place: GuidePlace }) {
  const { id, name, title, link } = useVisit(place);
  return (
    <a className="guide-button" {...link(onUse)}>
      {onUse ? `Act as ${name}` : <Avatar id={id} name={name} bot={false} small />}
      {!onUse && `${name} in ${title}`}
    </a>
  );
}

type Preparation = (GuideAction & { kind: 'prepare' })['what'];

export function PrepareButton({ what, onUse }: InLine & { what: Preparation }) {
  const { label, shortLabel, sentence, isRefused, prepare } = usePrepare(what, onUse);
  const short = isRefused ? 'Try again' : shortLabel;
  return (
    <p className="guide-prepare">
      <button type="button" className="guide-button" onClick={prepare}>
        {onUse ? short : label}
      </button>
      {!onUse && <span role="status">{sentence}</span>}
    </p>
  );
}
