import { sql } from 'kysely';
import type { StoreTx } from './database.ts';

/** Something that is due. It carries nothing: what is done or shown is computed from the log at that moment. */
export interface Job {
  readonly kind: string;
  /** The subject within the kind, for example a change id. */
  readonly key: string;
  /** In milliseconds since 1970. */
  readonly dueAt: number;
}

/** A job that one process has, until its lease ends. */
export interface ClaimedJob extends Job {
  /** How often the job was claimed since it last ended, this time included. */
  readonly attempts: number;
  /** When it was first due, in milliseconds. */
  readonly since: number;
  /** How often it was requested: a later request during the run is run again. */
  readonly asked: number;
  readonly owner: string;
}

const AT_ONCE = 1_000;

/** Requests jobs. One that waits already becomes due at the earlier time; one that runs is run again. */
export async function addJobs(tx: StoreTx, ...jobs: readonly Job[]): Promise<void> {
  const earliest = new Map<string, Job>();
  for (const job of jobs.toSorted((one, other) => other.dueAt - one.dueAt))
    earliest.set(`${job.kind}/${job.key}`, job);
  const rows = [...earliest.values()].map(
    ({ kind, key, dueAt }) => sql`(${kind}, ${key}, ${dueAt}, ${dueAt})`,
  );
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    await sql`insert into job (kind, key, due_at, since)
      values ${sql.join(rows.slice(from, from + AT_ONCE))}
      on conflict (kind, key) do update set asked = job.asked + 1,
      since = case when excluded.since < job.since then excluded.since else job.since end,
      due_at = case when excluded.due_at < job.due_at then excluded.due_at else job.due_at end`.execute(
      tx,
    );
  }
}

interface Claim {
  readonly owner: string;
  readonly now: number;
  readonly leaseMs: number;
  readonly lanes: readonly Lane[];
}

/** At most so many jobs of these kinds. */
interface Lane {
  readonly most: number;
  readonly kinds: readonly string[];
}

/**
 * Claims due jobs that no process has, the oldest first. Two processes never claim the same one: PostgreSQL checks the
 * lease again after it has waited for the row.
 */
export async function claimJobs(tx: StoreTx, claim: Claim): Promise<readonly ClaimedJob[]> {
  const { owner, now, leaseMs } = claim;
  const lanes = claim.lanes.filter(({ most, kinds }) => most > 0 && kinds.length > 0);
  if (lanes.length === 0) return [];
  const due = lanes.map(
    ({ most, kinds }) => sql`select kind, key from (select kind, key from job
      where due_at <= ${now} and lease_until <= ${now} and kind in (${sql.join(kinds)})
      order by due_at, kind, key limit ${most}) lane`,
  );
  const { rows } = await sql<Omit<ClaimedJob, 'owner'>>`update job
    set lease_owner = ${owner}, lease_until = ${now + leaseMs}, attempts = attempts + 1
    where lease_until <= ${now} and due_at <= ${now}
      and (kind, key) in (${sql.join(due, sql` union all `)})
    returning kind, key, due_at as "dueAt", attempts, asked, since`.execute(tx);
  return rows.map((row) => ({ ...row, owner })).toSorted((one, other) => one.dueAt - other.dueAt);
}

/** Extends the lease of a job that still runs. False: its lease has ended, and another process may have it. */
export async function renewJob(tx: StoreTx, job: ClaimedJob, until: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`update job set lease_until = ${until}
    where kind = ${job.kind} and key = ${job.key} and lease_owner = ${job.owner}`.execute(tx);
  return numAffectedRows > 0n;
}

/** Ends a job, unless it was requested again while it ran: then it is due now. Returns whether it has ended. */
export async function endJob(tx: StoreTx, job: ClaimedJob): Promise<boolean> {
  const { kind, key, owner, asked } = job;
  const { numAffectedRows = 0n } = await sql`delete from job where kind = ${kind} and key = ${key}
    and lease_owner = ${owner} and asked = ${asked}`.execute(tx);
  if (numAffectedRows > 0n) return true;
  await sql`update job set lease_owner = null, lease_until = 0, attempts = 0, since = due_at
    where kind = ${kind} and key = ${key} and lease_owner = ${owner}`.execute(tx);
  return false;
}

/**
 * Gives a job back, to be run at `dueAt`; at once if it was requested again while it ran. `isPlanned`: it ended well, so
 * that it is not late.
 */
export async function retryJob(
  tx: StoreTx,
  job: ClaimedJob,
  dueAt: number,
  isPlanned = false,
): Promise<void> {
  await sql`update job set lease_owner = null, lease_until = 0, attempts = ${job.attempts},
      due_at = case when asked = ${job.asked} then cast(${dueAt} as bigint) else due_at end
    where kind = ${job.kind} and key = ${job.key} and lease_owner = ${job.owner}`.execute(tx);
  if (isPlanned)
    await sql`update job set since = due_at where kind = ${job.kind} and key = ${job.key}`.execute(
      tx,
    );
}

/** Releases the jobs of the process before. Only for a start where the database proves that no other process runs. */
export async function releaseJobs(tx: StoreTx): Promise<void> {
  await sql`update job set lease_owner = null, lease_until = 0`.execute(tx);
}
