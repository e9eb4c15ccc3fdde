import { hash, randomUUID } from 'node:crypto';
import { isPerson } from '../domain/change.ts';
import type { EventOf, StreamName } from '../domain/log-events.ts';
import { append } from '../log/index.ts';
import type { DecisionContext } from './context.ts';
import type { JobResult, JobTry } from './jobs.ts';
import { type Effects, eventsOf, NOTHING, together } from './moves.ts';

type NoticeEvent = EventOf<`notice/${string}`>;

/** Something that a person or the operators must read. */
export type Notice = Omit<Extract<NoticeEvent, { type: 'noticed' }>, 'type'>;

/** The events and jobs of a notice, to be appended with what it is about. */
export function noticeFor(notice: Notice, at: number, id: string = randomUUID()): Effects {
  const { to } = notice;
  // A program reads what became of its request where it asked.
  if (to !== null && !isPerson(to)) return NOTHING;
  return {
    events: [{ stream: `notice/${id}`, event: { type: 'noticed', ...notice } }],
    jobs: [{ kind: 'notice', key: id, dueAt: at }],
  };
}

/** Appends a notice of its own. */
export async function notify(context: DecisionContext, notice: Notice): Promise<void> {
  await append(context.events, async ({ at }) => ({ ...noticeFor(notice, at), result: null }));
  context.wake();
}

/** Appends notices of one matter, unless they were appended before: `matter` names it. */
export async function notifyOnce(
  context: DecisionContext,
  matter: string,
  notices: readonly Notice[],
): Promise<void> {
  const id = hash('sha256', matter, 'base64url');
  await appendOnce(context, `notice/${id}-0`, (at) =>
    together(...notices.map((each, index) => noticeFor(each, at, `${id}-${index}`))),
  );
}

/** Appends what a stream begins with, unless it has begun. */
export async function appendOnce(
  context: DecisionContext,
  stream: StreamName,
  effects: (at: number) => Effects,
): Promise<void> {
  await append(context.events, async (locked) => {
    const { version } = await locked.load(stream, () => null);
    return { ...(version > 0 ? NOTHING : effects(locked.at)), result: null };
  });
  context.wake();
}

/** Posts a notice. After a lost answer it may arrive twice, which is better than not at all. */
export async function sendNotice(context: DecisionContext, job: JobTry): Promise<JobResult> {
  const [notice, ...ends] = await eventsOf(context.events, `notice/${job.key}`);
  if (notice?.type !== 'noticed' || ends.length > 0) return 'done';
  const { to, title, text, line = [], actions = [] } = notice;
  const parts = [{ kind: 'lines', lines: [[text, ...line]] }] as const;
  if (to) await context.messenger.messageUser(to, { title, parts });
  else await context.messenger.notifyOperators(text, job, { line, actions });
  await endNotice(context, job.key, { type: 'shown' });
  return 'done';
}

/** Ends a notice that Slack refused for good. What one person cannot be sent, the operators read. */
export async function endRefusedNotice(
  context: DecisionContext,
  id: string,
  why: string,
): Promise<void> {
  const [notice] = await eventsOf(context.events, `notice/${id}`);
  await endNotice(context, id, { type: 'given-up', why });
  if (notice?.type !== 'noticed' || notice.to === null) return;
  const text = `Slack refused a message to a person: ${why}. It said: “${notice.text}`;
  const line = [...(notice.line ?? []), '” It was for ', { user: notice.to }, '.'];
  await notify(context, { to: null, title: 'Notice', text, line });
}

/** Appends that a notice was shown, or is not tried any more. */
export async function endNotice(
  { events }: Pick<DecisionContext, 'events'>,
  id: string,
  event: NoticeEvent,
): Promise<void> {
  const ended = { stream: `notice/${id}`, event } as const;
  await append(events, async () => ({ events: [ended], result: null }));
}
