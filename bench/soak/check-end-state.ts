import type { Change } from '../../src/domain/change.ts';
import { listEvents, type StoredEvent } from '../../src/log/old/append.ts';
import { listChanges } from '../../src/log/old/change-lists.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { readGauges } from '../../src/ops/index.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import type { SoakSandbox } from './soak-sandbox.ts';

const MANY = 1_000_000;

const OPERATIONS: Readonly<Record<string, string>> = {
  'service stop': 'set state',
  'service start': 'set state',
  'service scale': 'scale',
};

export interface EndState {
  readonly endings: Readonly<Record<string, number>>;
  readonly events: number;
  readonly lost: readonly string[];
  readonly twice: readonly string[];
  readonly contradicted: readonly string[];
  readonly chain: readonly string[];
  readonly unsent: number;
}

/** What the stopped bot has written down, held against what the servers counted. */
export async function checkEndState(
  sandbox: SoakSandbox,
  confirmed: readonly string[],
): Promise<EndState> {
  const { db, close } = await openDatabase(sandbox.bot.databaseUrl);
  try {
    const [changes, trail, verified, levels] = await Promise.all([
      listChanges(db, { limit: MANY }),
      listEvents(db, { afterSeq: 0, limit: MANY }),
      verifyChain(db, sandbox.bot.key),
      readGauges(db, new Date(), ''),
    ]);
    const sent = changes.filter(({ confirmedAt }) => confirmedAt !== null);
    const states = Object.entries(Object.groupBy(sent, ({ state }) => state));
    return {
      endings: Object.fromEntries(states.map(([state, all]) => [state, all.length])),
      events: trail.length,
      lost: [...lostOf(confirmed, changes, trail), ...sent.flatMap(stillRuns)],
      ...againstServers(sandbox, sent),
      chain: verified.ok ? [] : [`broken at ${verified.seq}: ${verified.problem}`],
      unsent: levels.outbox.count + levels.inbox.count,
    };
  } finally {
    await close();
  }
}

/** A press that was acknowledged has made something of the draft, if only a refusal. */
function lostOf(ids: readonly string[], changes: readonly Change[], trail: readonly StoredEvent[]) {
  const known = new Set(changes.flatMap(({ id, confirmedAt }) => (confirmedAt ? [id] : [])));
  const moved = new Set<string | null>();
  for (const { changeId, kind } of trail) if (kind !== 'drafted') moved.add(changeId);
  return ids.filter((id) => !known.has(id as Change['id']) && !moved.has(id));
}

function stillRuns({ id, state }: Change): readonly string[] {
  return state === 'executing' || state === 'approved' ? [`${id} is still ${state}`] : [];
}

/** What took effect at a service is bounded by what is said of its changes. */
function againstServers({ cloud }: SoakSandbox, sent: readonly Change[]) {
  const key = ({ command, plan }: Change) => `${OPERATIONS[command] ?? command} ${plan.target.id}`;
  const twice: string[] = [];
  const contradicted: string[] = [];
  for (const [place, changes] of Map.groupBy(sent, key)) {
    const [, operation = '', target = ''] = /^(.*) (\S+)$/.exec(place) ?? [];
    const effects = cloud.effectCount(operation, target);
    const executed = changes.filter(({ outcome: ending }) => ending !== null).length;
    const succeeded = changes.filter(({ state }) => state === 'succeeded').length;
    const inDoubt = changes.filter(({ state }) => state === 'unknown').length;
    const said = `${effects} effects, ${succeeded} succeeded and ${inDoubt} in doubt`;
    if (effects > executed) twice.push(`${place}: ${effects} effects of ${executed} executions`);
    const fits = succeeded <= effects && effects <= succeeded + inDoubt;
    if (!fits) contradicted.push(`${place}: ${said}`);
  }
  return { twice, contradicted };
}
