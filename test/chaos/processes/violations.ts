import type { Change } from '../../../src/changes/change.ts';
import { stateText } from '../../../src/slack/cards/card.ts';
import { listEvents, verifyChain } from '../../../src/storage/audit/append.ts';
import { openDatabase } from '../../../src/storage/engine/database.ts';
import { listChanges } from '../../../src/storage/tables/changes/change-lists.ts';
import { AUDIT_KEY } from '../../harness/simulators.ts';
import { wrongWithTrail } from '../sim/at-the-end.ts';
import type { ProcessStage } from './stage.ts';

const MANY = 100_000;

/** The promises that the stored changes violate, compared with the simulators, the audit trail and the cards. */
export async function wrongWithAll(stage: ProcessStage, databaseUrl: string) {
  const database = await openDatabase(databaseUrl, { now: () => stage.clock.now });
  try {
    const [changes, trail, verified] = await Promise.all([
      listChanges(database.db, { limit: MANY }),
      listEvents(database.db, { afterSeq: 0, limit: MANY }),
      verifyChain(database.db, AUDIT_KEY),
    ]);
    const byChange = Map.groupBy(trail, ({ changeId }) => changeId);
    const sent = changes.filter(({ confirmedAt }) => confirmedAt !== null);
    const wrong = [
      ...(verified.ok ? [] : [`the audit chain is broken at ${verified.seq}`]),
      ...changes.flatMap((change) => wrongWithTrail(change, byChange.get(change.id) ?? [])),
      ...wrongWithTargets(stage, sent),
      ...wrongWithStates(sent),
      ...wrongWithCards(stage, sent),
    ];
    const ended = Object.groupBy(sent, ({ state }) => state);
    const counts = Object.entries(ended).map(([state, all]) => [state, all.length] as const);
    return { wrong, ended: Object.fromEntries(counts) };
  } finally {
    await database.close();
  }
}

/** The requests for a target are limited by its approved changes. */
function wrongWithTargets({ cloud }: ProcessStage, sent: readonly Change[]): readonly string[] {
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

function wrongWithCards({ slack }: ProcessStage, sent: readonly Change[]): readonly string[] {
  const cards = slack.messages('db-approvals').filter(({ threadTs }) => threadTs === null);
  const texts = cards.map(({ text, blocks }) => ({ text, all: JSON.stringify([text, blocks]) }));
  return sent.flatMap((change) => {
    const own = texts.filter(({ all }) => all.includes(change.id));
    if (own.length !== 1) return [`${change.id}: it has ${own.length} cards`];
    const isRight = own[0]?.text.includes(stateText(change));
    return isRight ? [] : [`${change.id}: its card does not say that it is ${change.state}`];
  });
}
