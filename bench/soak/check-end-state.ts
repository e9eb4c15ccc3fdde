import { Secret } from '../../src/base/errors.ts';
import type { Change } from '../../src/domain/change.ts';
import { type Log, listChanges, openLog, readKeys } from '../../src/log/index.ts';
import { rowsFrom } from '../../src/log/log.ts';
import { verifyAll } from '../../src/log/upkeep.ts';
import { openStore, reading, sql } from '../../src/storage/index.ts';
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
  const databaseUrl = sandbox.bot.databaseUrl;
  const store = await openStore(databaseUrl, { as: 'beside' });
  try {
    const key = new Secret(sandbox.bot.key.toString('base64'));
    const keys = readKeys({ databaseUrl, key, previous: [] });
    const log = await openLog(store, keys, { replacesKey: false });
    const [changes, verified, moved] = await Promise.all([
      listChanges(log, { limit: MANY }),
      verifyAll(log),
      movedChanges(log),
    ]);
    const sent = changes.filter(({ confirmedAt }) => confirmedAt !== null);
    const states = Object.entries(Object.groupBy(sent, ({ state }) => state));
    const known = new Set<string>([...sent.map(({ id }) => id), ...moved.ids]);
    return {
      endings: Object.fromEntries(states.map(([state, all]) => [state, all.length])),
      events: moved.events,
      // A press that was acknowledged has made something of the draft, if only a refusal.
      lost: [...confirmed.filter((id) => !known.has(id)), ...sent.flatMap(stillRuns)],
      ...againstServers(sandbox, sent),
      chain: verified.ok ? [] : [verified.problem.message],
      unsent: await dueJobs(log),
    };
  } finally {
    await store.close();
  }
}

/** The changes with an event after their first one, and the number of all events. */
async function movedChanges({ store }: Log) {
  const ids = new Set<string>();
  let seq = 0;
  for (;;) {
    const rows = await reading(store, (reader) => rowsFrom(reader, seq + 1));
    for (const { stream, version } of rows) {
      const [kind, id = ''] = stream.split('/');
      if (kind === 'press' || (kind === 'change' && version > 1)) ids.add(id);
    }
    seq = rows.at(-1)?.seq ?? seq;
    if (rows.length === 0) return { ids, events: seq };
  }
}

async function dueJobs({ store }: Log): Promise<number> {
  const now = Date.now();
  const { rows } = await reading(store, (reader) =>
    sql<{ count: number }>`select count(*) as count from job where due_at <= ${now}`.execute(
      reader,
    ),
  );
  return Number(rows[0]?.count ?? 0);
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
