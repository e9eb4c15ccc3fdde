import { Secret } from '../../src/base/errors.ts';
import type { Change } from '../../src/domain/change.ts';
import { listChanges, openLog, readKeys } from '../../src/log/index.ts';
import { rowsFrom } from '../../src/log/log.ts';
import { verifyAll } from '../../src/log/upkeep.ts';
import { readGauges } from '../../src/ops/index.ts';
import { openStore, reading } from '../../src/storage/index.ts';
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
  const { databaseUrl, key } = sandbox.bot;
  const keys = readKeys({ databaseUrl, key: new Secret(key.toString('base64')), previous: [] });
  const store = await openStore(databaseUrl, { as: 'beside' });
  try {
    const log = await openLog(store, keys, { replacesKey: false });
    const [changes, events, verified, levels] = await Promise.all([
      listChanges(log, { limit: MANY }),
      reading(log.store, (reader) => rowsFrom(reader, 1)),
      verifyAll(log),
      readGauges(log, new Date(), ''),
    ]);
    const sent = changes.filter(({ confirmedAt }) => confirmedAt !== null);
    const states = Object.entries(Object.groupBy(sent, ({ state }) => state));
    return {
      endings: Object.fromEntries(states.map(([state, all]) => [state, all.length])),
      events: events.length,
      lost: [...lostOf(confirmed, changes, events), ...sent.flatMap(stillRuns)],
      ...againstServers(sandbox, sent),
      chain: verified.ok ? [] : [verified.problem.message],
      unsent: levels.outbox.count + levels.inbox.count,
    };
  } finally {
    await store.close();
  }
}

/** A press that was acknowledged has made something of the draft, if only a refusal. */
function lostOf(
  ids: readonly string[],
  changes: readonly Change[],
  events: readonly { readonly stream: string; readonly type: string }[],
) {
  const known = new Set(changes.flatMap(({ id, confirmedAt }) => (confirmedAt ? [id] : [])));
  const moved = new Set<string>();
  for (const { stream, type } of events) {
    const [kind, id = ''] = stream.split('/');
    if (type !== 'drafted' && (kind === 'change' || kind === 'refusal')) moved.add(id);
  }
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
