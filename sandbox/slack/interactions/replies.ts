import { isJson, type Json, list, parseJson, stringOf, stringOr } from '../../json.ts';
import { messageProblems, refuseBlocks } from '../block-kit/validate.ts';
import { addMessage, remove, updateMessage } from '../messages.ts';
import type { ReplyTarget } from '../records.ts';
import type { SlackState } from '../state.ts';

/** Posts, replaces or deletes the app's reply to an interaction; returns Slack's reply to it. */
export function applyReply(slack: SlackState, target: ReplyTarget, body: Json): Json {
  const problems = body.blocks === undefined ? [] : messageProblems(body.blocks);
  if (problems.length > 0) return refuseBlocks('invalid_blocks', problems);
  const message = target.message && slack.messages.includes(target.message) ? target.message : null;
  if (body.delete_original === true) {
    if (message) remove(slack, message);
    return { ok: true };
  }
  const content = { text: stringOf(body.text), blocks: list(body.blocks) };
  if (content.text === '' && content.blocks.length === 0) return { ok: false, error: 'no_text' };
  const isPrivate = body.response_type !== 'in_channel';
  // A reply cannot change who sees a message: a private one does not replace a public one. Without
  // a response type it replaces either.
  const isSameKind = !body.response_type || isPrivate === (message?.ephemeralFor !== null);
  const replaces = message !== null && isSameKind;
  if (body.replace_original === true && replaces) updateMessage(slack, message, content);
  else postReply(slack, target, { ...body, ...content });
  return { ok: true };
}

function postReply(
  slack: SlackState,
  target: ReplyTarget,
  body: Json & { readonly text: string; readonly blocks: readonly Json[] },
): void {
  const { channel, person } = target;
  const isPublic = body.response_type === 'in_channel';
  if (isPublic && target.typed !== null) {
    addMessage(slack, { channel, author: person, text: target.typed });
    target.typed = null;
  }
  addMessage(slack, {
    channel,
    author: slack.workspace.botUserId,
    text: body.text,
    blocks: body.blocks,
    // A reply to a button inside a thread appears in the channel, unless it names the thread.
    threadTs: stringOr(body.thread_ts, null),
    ephemeralFor: isPublic ? null : person,
  });
}

/** The reply in the body of an acknowledgement. Slack shows a body that is not JSON as text. */
export function replyInAcknowledgement(body: string): Json | null {
  if (body.trim() === '') return null;
  const json = parseJson(body);
  if (isJson(json)) return Object.keys(json).length === 0 ? null : json;
  return { text: stringOr(json, body) };
}
