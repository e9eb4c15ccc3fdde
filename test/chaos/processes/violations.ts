import type { Change } from '../../../src/domain/change.ts';
import { cardTitle } from '../../../src/slack/card-state.ts';
import { readEndState } from '../../harness/end-state.ts';
import { isCard } from '../../harness/messages.ts';
import { withLog } from '../../harness/read-log.ts';
import { drawing } from '../../slack/fixtures.ts';
import type { ControlledSandbox } from './controlled-sandbox.ts';

/** The promises that the stored changes violate, compared with the simulators, the audit trail and the cards. */
export async function wrongWithAll(sandbox: ControlledSandbox, databaseUrl: string) {
  return withLog(databaseUrl, async (log) => {
    const { confirmed: sent, violations } = await readEndState(log);
    const wrong = [
      ...violations,
      ...wrongWithTargets(sandbox, sent),
      ...wrongWithStates(sent),
      ...wrongWithCards(sandbox, sent),
    ];
    const ended = Object.groupBy(sent, ({ state }) => state);
    const counts = Object.entries(ended).map(([state, all]) => [state, all.length] as const);
    return { wrong, ended: Object.fromEntries(counts) };
  });
}

/** The requests for a target are limited by its approved changes. */
function wrongWithTargets(
  { cloud }: ControlledSandbox,
  sent: readonly Change[],
): readonly string[] {
  const byTarget = Map.groupBy(sent, ({ plan }) => plan.target.id);
  const requests = cloud.requests().filter((each) => each.operation === 'set state');
  const executed = requests.filter(({ status }) => status !== 429);
  return [...byTarget].flatMap(([id, changes]) => {
    const arrived = executed.filter(({ path }) => path.includes(id)).length;
    const claimed = changes.filter(({ outcome: ending }) => ending !== null).length;
    const effects = cloud.effectCount('set state', id);
    const succeeded = changes.filter(({ state }) => state === 'succeeded').length;
    return [
      ...(arrived > claimed ? [`${id}: ${arrived} requests for ${claimed} endings`] : []),
      ...(effects > claimed ? [`${id}: ${effects} effects for ${claimed} endings`] : []),
      ...(succeeded > effects ? [`${id}: “succeeded” without effect`] : []),
      ...(wasFailed(changes) && effects > succeeded ? [`${id}: “failed” with an effect`] : []),
    ];
  });
}

/** No change may be executing, and a change may wait only for an unknown outcome of its target. */
function wrongWithStates(sent: readonly Change[]): readonly string[] {
  const unknownTargets = sent
    .filter(({ state }) => state === 'unknown')
    .map(({ plan }) => plan.target.id);
  const waits = ({ state, plan }: Change) =>
    state === 'executing' || (state === 'approved' && !unknownTargets.includes(plan.target.id));
  return sent.filter(waits).map(({ id, state }) => `${id}: still ${state}`);
}

function wasFailed(changes: readonly Change[]): boolean {
  return changes.every(({ state }) => state === 'failed' || state === 'succeeded');
}

function wrongWithCards({ slack }: ControlledSandbox, sent: readonly Change[]): readonly string[] {
  const cards = slack.messages('db-approvals').filter(isCard);
  const texts = cards.map(({ text }) => text);
  return sent.flatMap((change) => {
    // A card may also name the change after which its own is not run.
    const own = texts.filter((text) => text.split('\n')[0]?.includes(` · ${change.id}`));
    if (own.length !== 1) return [`${change.id}: it has ${own.length} cards\n${own.join('\n')}`];
    const stateInCard =
      change.state === 'pending' ? ' requests: ' : cardTitle(change, drawing.commands);
    const isRight = own[0]?.includes(stateInCard);
    return isRight ? [] : [`${change.id}: its card does not say that it is ${change.state}`];
  });
}
