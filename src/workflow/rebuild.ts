import { DAY_MS } from '../base/time.ts';
import type { ChangeId } from '../domain/change.ts';
import type { Log, Subjects } from '../log/index.ts';
import { rebuild } from '../log/upkeep.ts';
import type { Job } from '../storage/index.ts';
import { jobsOf } from './moves.ts';
import { ownJobs } from './own.ts';

/** Deletes all views and jobs and makes them again from the log. Nothing is posted or sent twice because of it. */
export async function rebuildAll(log: Log): Promise<void> {
  await rebuild(log, async (locked, streams) => {
    const jobs: Job[] = [];
    for (const { stream, endedAt } of streams) {
      const due = await jobsFor(locked, stream, locked.at);
      // A change that ended before today has its messages; its revert may still be due.
      const isOld = endedAt !== null && locked.at - endedAt > DAY_MS;
      const isDue = ({ kind, dueAt }: Job) => DUE_AFTER_END.includes(kind) || dueAt > locked.at;
      jobs.push(...due.filter((each) => !isOld || isDue(each)));
    }
    return jobs;
  });
}

const DUE_AFTER_END = ['revert', 'unfreeze-offer', 'follow'];

/** What is due for one subject, computed from the log alone. */
export async function jobsFor(
  subjects: Subjects,
  stream: string,
  at: number,
): Promise<readonly Job[]> {
  const [kind = '', ...rest] = stream.split('/');
  const key = rest.join('/');
  const now = new Date(at);
  switch (kind) {
    case 'change':
      // The name of the stream was made from the id of the change.
      return jobsOf(subjects, key as ChangeId, now);
    case 'freeze':
    case 'schedule':
      return ownJobs(subjects, `${kind}/${key}`, now);
    case 'press':
    case 'notice':
    case 'post':
      return [{ kind, key, dueAt: at }];
    default:
      return [];
  }
}
