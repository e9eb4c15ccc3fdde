import { isJson, type Json } from '../../json.ts';
import { refuseBlocks, viewProblems } from '../block-kit/validate.ts';
import { usableTrigger } from '../interactions/triggers.ts';
import type { StoredView } from '../records.ts';
import type { SlackState } from '../state.ts';
import { openModal, publishHome, replaceContent, viewById, viewJson } from '../views.ts';
import { isColleague, memberOf } from '../workspace/workspace.ts';
import { method, Refused, refuse, type SlackReply, structure, text } from './method.ts';

const MAX_BYTES = 250_000;

/** The view in the arguments. */
function readView(args: Json, type: 'modal' | 'home' | null): Json {
  const view = structure(args, 'view');
  if (!isJson(view)) return refuse('invalid_arguments');
  if (Buffer.byteLength(JSON.stringify(view)) > MAX_BYTES) return refuse('view_too_large');
  const problems = viewProblems(view);
  if (problems.length > 0) throw new Refused(refuseBlocks('invalid_arguments', problems));
  return type !== null && view.type !== type ? refuse('invalid_arguments') : view;
}

function open(slack: SlackState, args: Json): SlackReply {
  const view = readView(args, 'modal');
  const trigger = usableTrigger(slack, text(args, 'trigger_id') ?? '');
  trigger.used = true;
  return viewReply(slack, openModal(slack, trigger.person, view));
}

function update(slack: SlackState, args: Json): SlackReply {
  const view = readView(args, null);
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
  'views.open': method('tier 4', open),
  'views.update': method('tier 4', update),
  'views.publish': method('tier 4', publish),
};
