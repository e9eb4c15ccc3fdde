import { setTimeout as wait } from 'node:timers/promises';
import type { Delivery, ViewValues } from '../../sandbox/protocol.ts';
import { elementsIn } from '../../sandbox/slack/input-state.ts';
import { ImpossibleInteraction } from '../../sandbox/slack/interactions/actor.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import { isProgress } from '../../test/harness/messages.ts';
import type { SoakSandbox } from './soak-sandbox.ts';

const LOOK_EVERY_MS = 150;
// Slack's own word to a form that is not complete; whatever else it says, we did not answer it.
const NOT_COMPLETE = 'Some fields need another look.';

/** What was done and what came of it, as the people saw it. */
export interface Tally {
  readonly done: Map<string, number>;
  /** What Slack was not answered in its three seconds, or with no. */
  readonly unacknowledged: string[];
  /** What was acknowledged, and then nothing was to be seen. */
  readonly unanswered: string[];
  /** Changes whose confirmation was acknowledged. */
  readonly confirmed: string[];
}

export const emptyTally = (): Tally => ({
  done: new Map(),
  unacknowledged: [],
  unanswered: [],
  confirmed: [],
});

/** What a person can do in Slack, and each time it is noted whether Slack was answered. */
export function userActions({ slack }: SoakSandbox, tally: Tally) {
  const noted = async (what: string, doing: () => Promise<Delivery>): Promise<boolean> => {
    tally.done.set(what, (tally.done.get(what) ?? 0) + 1);
    try {
      const { error, status } = await doing();
      const isAnswered = error === null || error === NOT_COMPLETE;
      if (!isAnswered) tally.unacknowledged.push(`${what}: ${error} (${status})`);
      return error === null;
    } catch (thrown) {
      // Somebody was faster, and the button is gone.
      if (thrown instanceof ImpossibleInteraction) return false;
      throw thrown;
    }
  };
  return {
    type: (what: string, as: string, line: string) =>
      noted(what, () => slack.command(as, 'ops', line)),
    press: (as: string, { channel, ts }: StoredMessage, actionId: string) =>
      noted(actionId, () => slack.click(as, { in: 'message', channel, ts }, actionId)),
    fillIn: (as: string, viewId: string, values: ViewValues) =>
      noted('modal', () => slack.submit(as, viewId, values)),
    suggest: slack.suggest,
    closeForm: (as: string, viewId: string) => slack.close(as, viewId),
    formOf: (as: string) => slack.clientState(as).views.at(-1),
    privately: (as: string) =>
      slack.messages('ops').filter((each) => each.ephemeralFor === as && !isProgress(each)),
    cardOf: (id: string) =>
      slack
        .messages('db-approvals')
        .findLast((each) => each.threadTs === null && JSON.stringify(each.blocks).includes(id)),
  };
}

export type UserActions = ReturnType<typeof userActions>;

/** Until there is something to see; undefined when it does not come in time. */
export async function seen<T>(look: () => T | undefined, patienceMs: number) {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const found = look();
    if (found !== undefined) return found;
    await wait(LOOK_EVERY_MS);
  }
  return undefined;
}

export const because = (text: string): ViewValues => ({
  reason: { reason: { type: 'plain_text_input', value: text } },
});

/** What stands behind a button: the id of its change. */
export function changeBehind({ blocks }: StoredMessage, actionId: string): string | undefined {
  const found = elementsIn(blocks).find(({ element }) => element.action_id === actionId);
  return typeof found?.element.value === 'string' ? found.element.value : undefined;
}
