import { createHash, randomUUID } from 'node:crypto';
import { type AnswerAction, type InlinePart, textAnswer } from '../domain/answer.ts';
import { isPerson, type UserId } from '../domain/change.ts';
import type { EventOf } from '../domain/log-events.ts';
import { append } from '../log/index.ts';
import type { DecisionContext } from './context.ts';
import type { JobResult, JobTry } from './jobs.ts';
import { type Effects, NOTHING, together } from './moves.ts';

/** Something that a person or the operators must read. `to` null: the operators. */
export interface Notice {
  readonly to: UserId | null;
  readonly title: string;
  readonly text: string;
  /** Continues the text with what a text cannot mention, for example users. Only for the operators. */
  readonly line?: readonly Exclude<InlinePart, { at: Date }>[];
  readonly actions?: readonly AnswerAction[];
}

/** The events and jobs of a notice, to be appended with what it is about. */
export function noticeFor(
  { to, title, text, line = [], actions = [] }: Notice,
  at: number,
  id: string = randomUUID(),
): Effects {
  // A program reads what became of its request where it asked.
  if (to !== null && !isPerson(to)) return NOTHING;
  const event = { type: 'noticed', to, title, text, line: [...line], actions } as const;
  return {
    events: [{ stream: `notice/${id}`, event }],
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
  const id = hashOf(matter);
  await appendOnce(context, `notice/${id}-0`, (_, at) =>
    together(...notices.map((each, index) => noticeFor(each, at, `${id}-${index}`))),
  );
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Appends what a stream begins with, unless it has begun. */
export async function appendOnce<Name extends `notice/${string}` | `refusal/${string}`>(
  context: DecisionContext,
  stream: Name,
  effects: (stream: Name, at: number) => Effects,
): Promise<void> {
  await append(context.events, async (locked) => {
    const { version } = await locked.load(stream, () => null);
    return { ...(version > 0 ? NOTHING : effects(stream, locked.at)), result: null };
  });
  context.wake();
}

type NoticeEvent = EventOf<`notice/${string}`>;

/** What a notice says, and whether it was shown or is not tried any more. */
async function noticeIn({ events }: Pick<DecisionContext, 'events'>, id: string) {
  const { state, version } = await events.load(
    `notice/${id}`,
    (first: NoticeEvent | null, each) => first ?? each,
  );
  return { notice: state?.type === 'noticed' ? state : null, isEnded: version > 1 };
}

/** Posts a notice. After a lost answer it may arrive twice, which is better than not at all. */
export async function sendNotice(context: DecisionContext, job: JobTry): Promise<JobResult> {
  const { notice, isEnded } = await noticeIn(context, job.key);
  if (!notice || isEnded) return 'done';
  const { to, title, text, line = [], actions = [] } = notice;
  if (to) await context.messenger.messageUser(to, textAnswer(title, text));
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
  const { notice } = await noticeIn(context, id);
  await endNotice(context, id, { type: 'given-up', why });
  if (!notice?.to) return;
  const text = `Slack refused a message to a person: ${why}. It said: “${notice.text}” It was for `;
  await notify(context, { to: null, title: 'Notice', text, line: [{ user: notice.to }, '.'] });
}

/** Appends that a notice was shown, or is not tried any more. */
export async function endNotice(
  { events }: Pick<DecisionContext, 'events'>,
  id: string,
  event: NoticeEvent,
): Promise<void> {
  await append(events, async () => ({
    events: [{ stream: `notice/${id}`, event }],
    result: undefined,
  }));
}
