import { isJson, type Json } from '../../json.ts';
import { refuseBlocks, viewProblems } from '../block-kit/validate.ts';
import { validTrigger } from '../interactions/triggers.ts';
import type { StoredView } from '../records.ts';
import type { SlackState } from '../state.ts';
import { openModal, publishHome, replaceContent, viewById, viewJson } from '../views.ts';
import { isColleague, memberOf } from '../workspace/workspace.ts';
import {
  isRefusal,
  type Methods,
  method,
  refuse,
  type SlackReply,
  structure,
  text,
} from './method.ts';

const MAX_BYTES = 250_000;

/** The view in the arguments, or Slack's refusal of it. */
function readView(args: Json, type: 'modal' | 'home' | null): Json | SlackReply {
  const view = structure(args, 'view');
  if (!isJson(view)) return refuse('invalid_arguments');
  if (Buffer.byteLength(JSON.stringify(view)) > MAX_BYTES) return refuse('view_too_large');
  const problems = viewProblems(view);
  if (problems.length > 0) return refuseBlocks('invalid_arguments', problems);
  return type !== null && view.type !== type ? refuse('invalid_arguments') : view;
}

function open(slack: SlackState, args: Json): SlackReply {
  const view = readView(args, 'modal');
  if (isRefusal(view)) return view;
  const trigger = validTrigger(slack, text(args, 'trigger_id') ?? '');
  if (typeof trigger === 'string') return refuse(trigger);
  trigger.used = true;
  return viewReply(slack, openModal(slack, trigger.person, view));
}

function update(slack: SlackState, args: Json): SlackReply {
  const view = readView(args, null);
  if (isRefusal(view)) return view;
  const open = viewById(slack, text(args, 'view_id') ?? '');
  if (!open || open.type !== view.type) return refuse('not_found');
  if (isStale(args, open)) return refuse('hash_conflict');
  replaceContent(slack, open, view);
  return viewReply(slack, open);
}

function publish(slack: SlackState, args: Json): SlackReply {
  if (!slack.manifest.homeTab) return refuse('not_enabled');
  const person = memberOf(slack.workspace, text(args, 'user_id') ?? '');
  if (!person || person.deleted || !isColleague(slack.workspace, person)) {
    return refuse('user_not_found');
  }
  const view = readView(args, 'home');
  if (isRefusal(view)) return view;
  const existing = slack.homes.get(person.id);
  if (existing && isStale(args, existing)) return refuse('hash_conflict');
  return viewReply(slack, publishHome(slack, person.id, view));
}

function isStale(args: Json, view: StoredView): boolean {
  const hash = text(args, 'hash');
  return hash !== undefined && hash !== view.hash;
}

function viewReply(slack: SlackState, view: StoredView): SlackReply {
  return { ok: true, view: viewJson(slack, view) };
}

export const viewMethods = {
  'views.open': method(open),
  'views.update': method(update),
  'views.publish': method(publish),
} satisfies Methods;
