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
  const insert = useInsert(command);
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
        <button type="button" className="guide-button primary" onClick={insert}>
          Insert
        </button>
      </div>
    </div>
  );
}

function PlaceLink({ place }: { place: GuidePlace }) {
  const { id, name, title, link } = useVisit(place);
  return (
    <a className="guide-button" {...link()}>
      <Avatar id={id} name={name} bot={false} small />
      {name} in {title}
    </a>
  );
}

type Preparation = (GuideAction & { kind: 'prepare' })['what'];

function PrepareButton({ what }: { what: Preparation }) {
  const { label, sentence, prepare } = usePrepare(what);
  return (
    <p className="guide-prepare">
      <button type="button" className="guide-button" onClick={prepare}>
        {label}
      </button>
      <span role="status">{sentence}</span>
    </p>
  );
}
