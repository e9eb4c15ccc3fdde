import type { Json } from '../../protocol.ts';
import { messageProblems, refusalOf } from '../block-kit/validate.ts';
import { isJson, jsonList, parsed, stringOr } from '../json.ts';
import { post, redraw, remove, type StoredMessage } from '../messages.ts';
import type { SlackState } from '../state.ts';

/** Where an answer to a gesture goes: by acknowledging it, or later by its response_url. */
export interface Source {
  readonly person: string;
  readonly channel: string;
  readonly threadTs: string | null;
  /** The message in which something was pressed; a slash command has none. */
  readonly message: StoredMessage | null;
  /** What the person typed, until it has been shown to the channel. */
  typed: string | null;
}

/** Puts an app's answer where it belongs; what Slack refuses comes back as Slack's words. */
export function reply(slack: SlackState, source: Source, body: Json): Json {
  const text = stringOr(body.text, '');
  const problems = body.blocks === undefined ? [] : messageProblems(body.blocks);
  if (problems.length > 0) return refusalOf('invalid_blocks', problems);
  const { message } = source;
  if (body.delete_original === true) {
    if (message && slack.messages.includes(message)) remove(slack, message);
    return { ok: true };
  }
  const blocks = jsonList(body.blocks);
  if (text === '' && blocks.length === 0) return { ok: false, error: 'no_text' };
  if (body.replace_original === true && message && slack.messages.includes(message)) {
    redraw(slack, message, { text, blocks });
    return { ok: true };
  }
  postReply(slack, source, { ...body, text, blocks });
  return { ok: true };
}

function postReply(slack: SlackState, source: Source, body: Json): void {
  const open = body.response_type === 'in_channel';
  if (open && source.typed !== null) {
    post(slack, { channel: source.channel, author: source.person, text: source.typed });
    source.typed = null;
  }
  post(slack, {
    channel: source.channel,
    author: slack.workspace.botUserId,
    text: stringOr(body.text, ''),
    blocks: jsonList(body.blocks),
    threadTs: stringOr(body.thread_ts, open ? null : source.threadTs),
    ephemeralFor: open ? null : source.person,
  });
}

/** The body of an acknowledgement; text that is no JSON is shown as it is. */
export function acknowledged(body: string): Json | null {
  if (body.trim() === '') return null;
  const json = parsed(body);
  if (isJson(json)) return Object.keys(json).length === 0 ? null : json;
  return { text: typeof json === 'string' ? json : body };
}
