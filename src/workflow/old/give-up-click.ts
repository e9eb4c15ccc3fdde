import type { ClaimedClick } from '../../log/old/inbox.ts';
import { endClick } from './end-click.ts';
import type { DecisionContext } from './ports.ts';

/** Ends the retries of a click: its user is notified, and the audit trail records it. */
export async function giveUpClick(context: DecisionContext, row: ClaimedClick): Promise<void> {
  const { key, attempts } = row;
  // False: the click had its effect, and only the work after it failed.
  const ended = await endClick(context, row, {
    kind: 'click-failed',
    facts: ({ by, tried }) => ({ by, did: `pressed “${tried}”, which failed and had no effect` }),
    text: ({ tried, about, reference }) =>
      `Your click “${tried}” on ${about} had no effect: an internal error occurred ` +
      `${attempts} times. Press the button again. If that fails, ask an operator.${reference}`,
  });
  if (ended) context.log.error({ key, change: ended.change, attempts }, 'click was given up');
}
