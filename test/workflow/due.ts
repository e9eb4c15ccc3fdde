import type { ChangeId } from '../../src/domain/change.ts';
import { claimJobs, endJob, reading, retryJob, sql, transaction } from '../../src/storage/index.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import type { JobKinds } from '../../src/workflow/jobs.ts';

/** Runs the jobs of these kinds that are due, once each, as the loop does. Returns how many failed. */
export async function runDue(context: WorkflowContext, kinds: JobKinds): Promise<number> {
  const { store, instance: owner, now } = context;
  const claim = { owner, leaseMs: 1, lanes: [{ most: 99, kinds: Object.keys(kinds) }] };
  const jobs = await transaction(store, (tx) => claimJobs(tx, { ...claim, now: now().getTime() }));
  let failed = 0;
  for (const job of jobs) {
    const { attempts, key } = job;
    const kind = kinds[job.kind];
    try {
      const result = await kind?.run({ key, attempts, again: attempts > 1 });
      await transaction(store, async (tx) => {
        if (result === 'done' || result === undefined) return void (await endJob(tx, job));
        const at = result instanceof Date ? result : result.waitsUntil;
        await retryJob(tx, job, at.getTime());
      });
    } catch {
      failed += 1;
      const waitMs = kind?.retryMs?.(attempts) ?? 0;
      await transaction(store, (tx) => retryJob(tx, job, now().getTime() + waitMs));
    }
  }
  return failed;
}

/** The jobs that are due for a subject by this time: `card`, or `thread/3` with what follows the subject. */
export async function jobsFor(
  { store }: WorkflowContext,
  id: ChangeId,
  until = new Date(8_000_000_000_000),
): Promise<readonly string[]> {
  const rows = await reading(store, async (reader) => {
    const own = sql<{ kind: string; key: string }>`select kind, key from job
      where (key = ${id} or key like ${`${id}/%`}) and due_at <= ${until.getTime()}
      order by due_at, kind, key`;
    return (await own.execute(reader)).rows;
  });
  return rows.map(({ kind, key }) => `${kind}${key.slice(id.length)}`);
}

/** Ends all that is due, so that only what follows is. */
export async function endJobs({ store }: WorkflowContext): Promise<void> {
  await transaction(store, async (tx) => void (await sql`delete from job`.execute(tx)));
}
