import type { Json } from '../../protocol.ts';
import { viewProblems } from '../block-kit/validate.ts';
import { validTrigger } from '../interactions/triggers.ts';
import { isJson } from '../json.ts';
import type { World } from '../state.ts';
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
  type Reply,
  refuse,
  refuseBlocks,
  structure,
  TIER,
  text,
} from './method.ts';

const MOST_BYTES = 250_000;

/** The view that was sent, or Slack's refusal of it. */
function sentView(args: Json, type: 'modal' | 'home' | null): Json | Reply {
  const view = structure(args, 'view');
  if (!isJson(view)) return refuse('invalid_arguments');
  if (Buffer.byteLength(JSON.stringify(view)) > MOST_BYTES) return refuse('view_too_large');
  const problems = viewProblems(view);
  if (problems.length > 0) return refuseBlocks('invalid_arguments', problems);
  return type !== null && view.type !== type ? refuse('invalid_arguments') : view;
}

function isRefusal(value: Json): value is Reply {
  return value.ok === false;
}

function opening(how: 'open' | 'push') {
  return (world: World, args: Json): Reply => {
    const view = sentView(args, 'modal');
    if (isRefusal(view)) return view;
    if (takenExternalId(world, view, null)) return refuse('duplicate_external_id');
    const trigger = validTrigger(world, text(args, 'trigger_id') ?? '');
    if (typeof trigger === 'string') return refuse(trigger);
    trigger.used = true;
    if (how === 'open') return shown(world, openModal(world, trigger.person, view));
    const stack = modalsOf(world, trigger.person);
    if (trigger.fromModal === null || stack.length === 0) return refuse('not_found');
    const pushed = pushModal(world, trigger.person, view);
    return pushed ? shown(world, pushed) : refuse('push_limit_reached');
  };
}

function update(world: World, args: Json): Reply {
  const view = sentView(args, null);
  if (isRefusal(view)) return view;
  const viewId = text(args, 'view_id');
  const externalId = text(args, 'external_id');
  const open = viewId ? viewById(world, viewId) : viewByExternalId(world, externalId ?? '');
  if (!open || open.type !== view.type) return refuse('not_found');
  if (stale(args, open)) return refuse('hash_conflict');
  if (takenExternalId(world, view, open)) return refuse('duplicate_external_id');
  replaceContent(world, open, view);
  return shown(world, open);
}

function publish(world: World, args: Json): Reply {
  if (!world.manifest.homeTab) return refuse('not_enabled');
  const person = memberOf(world.workspace, text(args, 'user_id') ?? '');
  if (!person || person.deleted || person.teamId !== world.workspace.teamId) {
    return refuse('user_not_found');
  }
  const view = sentView(args, 'home');
  if (isRefusal(view)) return view;
  const existing = world.homes.get(person.id);
  if (existing && stale(args, existing)) return refuse('hash_conflict');
  return shown(world, publishHome(world, person.id, view));
}

function stale(args: Json, view: StoredView): boolean {
  const hash = text(args, 'hash');
  return hash !== undefined && hash !== view.hash;
}

function takenExternalId(world: World, view: Json, self: StoredView | null): boolean {
  if (typeof view.external_id !== 'string' || view.external_id === '') return false;
  const holder = viewByExternalId(world, view.external_id);
  return holder !== undefined && holder !== self;
}

function shown(world: World, view: StoredView): Reply {
  return { ok: true, view: viewJson(world, view) };
}

const often = { perMinute: TIER.four };

export const viewMethods: Methods = {
  'views.open': method(opening('open'), often),
  'views.push': method(opening('push'), often),
  'views.update': method(update, often),
  'views.publish': method(publish, often),
};
