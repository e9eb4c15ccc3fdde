import { type MouseEvent, useState } from 'react';
import { type Address, addressOf, href } from '../address.ts';
import { putDraft } from '../channel/sending.ts';
import { focusComposer } from '../focus.ts';
import { post } from '../server.ts';
import { personOf, useSession } from '../session.ts';
import { type CommandToSend, type GuidePlace, LOST_ANSWER } from './steps.ts';

export const addressAt = ({ as, channel }: GuidePlace): Address =>
  addressOf(`?as=${as}&channel=${channel}`);

/** The name of the person of a place, and the attributes of a link to it. */
export function useVisit(place: GuidePlace) {
  const { client, go } = useSession();
  const address = addressAt(place);
  const link = (onVisit: () => void = () => {}) => ({
    href: href(address),
    onClick: (event: MouseEvent) => {
      if (event.metaKey || event.ctrlKey) return;
      event.preventDefault();
      onVisit();
      go(address);
    },
  });
  const { title = `#${place.channel}` } = place;
  return { id: address.as, name: personOf(client, address.as)?.name ?? place.as, title, link };
}

/** Returns a function that acts as the sender of the command, opens the channel and fills the composer. */
export function useInsert({ line, ...place }: CommandToSend): () => void {
  const { go } = useSession();
  const address = addressAt(place);
  return () => {
    putDraft({ as: address.as, channelId: address.channel ?? '', threadTs: null }, line);
    go(address);
    focusComposer();
  };
}

const PREPARE = {
  fault: {
    label: 'Inject the fault',
    shortLabel: 'Inject the fault',
    done: 'Injected: the next answer is lost.',
    send: () => post('panel/faults', LOST_ANSWER),
  },
  morning: {
    label: 'Move the clock to the next morning',
    shortLabel: 'Next morning',
    done: 'The clock moves to 09:00.',
    send: () => post('clock', { move: 'next-morning' }),
  },
} as const;

/** How a button prepares the simulators, and the result of its last press. */
export function usePrepare(what: keyof typeof PREPARE, onDone: () => void = () => {}) {
  const [result, setResult] = useState<'done' | 'refused' | null>(null);
  const { label, shortLabel, done, send } = PREPARE[what];
  const prepare = () =>
    void send().then(
      () => {
        setResult('done');
        onDone();
      },
      () => setResult('refused'),
    );
  const isRefused = result === 'refused';
  const sentence = isRefused ? 'The sandbox refused this. Try again.' : result && done;
  return { label, shortLabel, sentence, isRefused, prepare };
}
