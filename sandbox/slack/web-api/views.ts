import type { Json } from '../../protocol.ts';
import { viewProblems } from '../block-kit/validate.ts';
import { validTrigger } from '../interactions/triggers.ts';
import { isJson } from '../json.ts';
import type { SlackState } from '../state.ts';
import {
  modalsOf,
  openModal,
  publishHome,
  pushModal,
  replaceContent,
  type StoredView,
  viewByExternalId,
  viewById,
  viewJson,
} from '../views.ts';
import { memberOf } from '../workspace.ts';
import {
  type Methods,
  method,
  refuse,
  refuseBlocks,
  type SlackReply,
  structure,
  TIER,
  text,
} from './method.ts';

const MOST_BYTES = 250_000;

/** The view that was sent, or Slack's refusal of it. */
function sentView(args: Json, type: 'modal' | 'home' | null): Json | SlackReply {
  const view = structure(args, 'view');
  if (!isJson(view)) return refuse('invalid_arguments');
  if (Buffer.byteLength(JSON.stringify(view)) > MOST_BYTES) return refuse('view_too_large');
  const problems = viewProblems(view);
  if (problems.length > 0) return refuseBlocks('invalid_arguments', problems);
  return type !== null && view.type !== type ? refuse('invalid_arguments') : view;
}

function isRefusal(value: Json): value is SlackReply {
  return value.ok === false;
}

function opening(how: 'open' | 'push') {
  return (slack: SlackState, args: Json): SlackReply => {
    const view = sentView(args, 'modal');
    if (isRefusal(view)) return view;
    if (takenExternalId(slack, view, null)) return refuse('duplicate_external_id');
    const trigger = validTrigger(slack, text(args, 'trigger_id') ?? '');
    if (typeof trigger === 'string') return refuse(trigger);
    trigger.used = true;
    if (how === 'open') return shown(slack, openModal(slack, trigger.person, view));
    const stack = modalsOf(slack, trigger.person);
    if (trigger.fromModal === null || stack.length === 0) return refuse('not_found');
    const pushed = pushModal(slack, trigger.person, view);
    return pushed ? shown(slack, pushed) : refuse('push_limit_reached');
  };
}

function update(slack: SlackState, args: Json): SlackReply {
  const view = sentView(args, null);
  if (isRefusal(view)) return view;
  const viewId = text(args, 'view_id');
  const externalId = text(args, 'external_id');
  const open = viewId ? viewById(slack, viewId) : viewByExternalId(slack, externalId ?? '');
  if (!open || open.type !== view.type) return refuse('not_found');
  if (stale(args, open)) return refuse('hash_conflict');
  if (takenExternalId(slack, view, open)) return refuse('duplicate_external_id');
  replaceContent(slack, open, view);
  return shown(slack, open);
}

function publish(slack: SlackState, args: Json): SlackReply {
  if (!slack.manifest.homeTab) return refuse('not_enabled');
  const person = memberOf(slack.workspace, text(args, 'user_id') ?? '');
  if (!person || person.deleted || person.teamId !== slack.workspace.teamId) {
    return refuse('user_not_found');
  }
  const view = sentView(args, 'home');
  if (isRefusal(view)) return view;
  const existing = slack.homes.get(person.id);
  if (existing && stale(args, existing)) return refuse('hash_conflict');
  return shown(slack, publishHome(slack, person.id, view));
}

function stale(args: Json, view: StoredView): boolean {
  const hash = text(args, 'hash');
  return hash !== undefined && hash !== view.hash;
}

function takenExternalId(slack: SlackState, view: Json, self: StoredView | null): boolean {
  if (typeof view.external_id !== 'string' || view.external_id === '') return false;
  const holder = viewByExternalId(slack, view.external_id);
  return holder !== undefined && holder !== self;
}

function shown(slack: SlackState, view: StoredView): SlackReply {
  return { ok: true, view: viewJson(slack, view) };
}

const often = { perMinute: TIER.four };

export const viewMethods: Methods = {
  'views.open': method(opening('open'), often),
  'views.push': method(opening('push'), often),
  'views.update': method(update, often),
  'views.publish': method(publish, often),
};
