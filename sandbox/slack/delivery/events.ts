import type { Json } from '../../protocol.ts';
import { freshId, type SentEvent, type SlackState, seconds } from '../state.ts';
import type { Answer } from './answer.ts';

/** Slack offers an event again nearly at once, after a minute, and after five. */
export const RETRY_AFTER_MS: readonly number[] = [0, 60_000, 300_000];

export interface Announced {
  /** The first attempt; null when the app does not listen for such events. */
  readonly first: Promise<Answer | null>;
  /** Settles when the event was taken or given up. */
  readonly done: Promise<void>;
}

/** `subscription` differs from the event's type for messages: `message.channels`. */
export function announce(
  slack: SlackState,
  event: Json & { readonly type: string },
  subscription: string = event.type,
): Announced {
  if (!slack.manifest.events.includes(subscription)) {
    return { first: Promise.resolve(null), done: Promise.resolve() };
  }
  const id = freshId('Ev');
  const sent: SentEvent = { id, payload: callback(slack, id, event), attempts: [] };
  slack.events.push(sent);
  return offer(slack, sent);
}

function callback(slack: SlackState, id: string, event: Json): Json {
  const { teamId, appId, botUserId } = slack.workspace;
  return {
    token: 'deprecated',
    team_id: teamId,
    api_app_id: appId,
    type: 'event_callback',
    event_id: id,
    event_time: seconds(slack),
    event,
    is_ext_shared_channel: false,
    authorizations: [
      {
        enterprise_id: null,
        team_id: teamId,
        user_id: botUserId,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
  };
}

function offer(slack: SlackState, event: SentEvent): Announced {
  const first = attempt(slack, event, null);
  return { first, done: first.then((answer) => again(slack, event, answer)) };
}

async function again(slack: SlackState, event: SentEvent, first: Answer): Promise<void> {
  let last = first;
  for (const [index, ms] of RETRY_AFTER_MS.entries()) {
    if (last.failure === null || last.noRetry) return;
    await slack.wait(ms);
    last = await attempt(slack, event, { num: index + 1, reason: reasonOf(last) });
  }
}

async function attempt(
  slack: SlackState,
  event: SentEvent,
  retry: { readonly num: number; readonly reason: string } | null,
): Promise<Answer> {
  const answer = await slack.deliverToApp('events_api', event.payload, retry ?? undefined);
  event.attempts.push({ retryNum: retry?.num ?? 0, delivered: answer.failure === null });
  return answer;
}

function reasonOf(answer: Answer): string {
  if (answer.failure === 'operation_timeout') return 'http_timeout';
  return answer.status === 0 ? 'connection_failed' : 'http_error';
}

/** Slack's double delivery: the same event once more, with nothing that says so. */
export async function redeliver(slack: SlackState, eventId: string): Promise<void> {
  const event = slack.events.find(({ id }) => id === eventId);
  if (event) await attempt(slack, event, null);
}
