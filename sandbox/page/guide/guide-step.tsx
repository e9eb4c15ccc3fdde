import { useState } from 'react';
import type { ClockMoveChoice } from '../../protocol.ts';
import { addressOf, href } from '../address.ts';
import { putDraft } from '../channel/sending.ts';
import { focusComposer } from '../focus.ts';
import { Avatar } from '../frame/avatar.tsx';
import { post } from '../server.ts';
import { personOf, useSession } from '../session.ts';
import { type GuidePlace, type GuideStep, LOST_ANSWER } from './steps.ts';

const addressAt = ({ as, channel }: GuidePlace) => addressOf(`?as=${as}&channel=${channel}`);

export function GuideStepBody({ step }: { step: GuideStep }) {
  const { command, prepare, places } = step;
  return (
    <div className="guide-body">
      <p>{step.text}</p>
      {prepare === 'fault' && <PrepareButton what="fault" />}
      {command !== undefined && <GuideCommand {...command} />}
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
function GuideCommand({ line, ...place }: GuidePlace & { line: string }) {
  const { client, go } = useSession();
  const address = addressAt(place);
  const name = personOf(client, address.as)?.name ?? place.as;

  function insert() {
    putDraft({ as: address.as, channelId: address.channel ?? '', threadTs: null }, line);
    go(address);
    focusComposer();
  }

  return (
    <div className="guide-command">
      <code>{line}</code>
      <div className="guide-command-foot">
        <span>
          as {name} in #{place.channel}
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
  const { client, go } = useSession();
  const address = addressAt(place);
  const name = personOf(client, address.as)?.name ?? place.as;
  return (
    <a
      className="guide-button"
      href={href(address)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey) return;
        event.preventDefault();
        go(address);
      }}
    >
      <Avatar id={address.as} name={name} bot={false} small />
      {name} in #{place.channel}
    </a>
  );
}

const MORNING: ClockMoveChoice = { move: 'next-morning' };

const PREPARE = {
  fault: {
    label: 'Inject the fault',
    done: 'Injected: the next answer is lost.',
    send: () => post('panel/faults', LOST_ANSWER),
  },
  morning: {
    label: 'Move the clock to the next morning',
    done: 'The clock moves to 09:00.',
    send: () => post('clock', MORNING),
  },
} as const;

function PrepareButton({ what }: { what: 'fault' | 'morning' }) {
  const [result, setResult] = useState<string | null>(null);
  const { label, done, send } = PREPARE[what];
  const prepare = () =>
    send().then(
      () => setResult(done),
      () => setResult('The sandbox refused this. Try again.'),
    );
  return (
    <p className="guide-prepare">
      <button type="button" className="guide-button" onClick={() => void prepare()}>
        {label}
      </button>
      <span role="status">{result}</span>
    </p>
  );
}
