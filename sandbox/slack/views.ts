import type { Json, ViewValues } from '../protocol.ts';
import { completed, stateValues } from './block-elements.ts';
import { jsonList, stringOr } from './json.ts';
import { changed, freshId, type World } from './state.ts';

/** A modal that is open for one person, or that person's home tab. */
export interface StoredView {
  readonly id: string;
  readonly person: string;
  readonly type: 'modal' | 'home';
  readonly rootId: string;
  readonly previousId: string | null;
  /** What the app sent: title, submit, callback_id, private_metadata and so on. */
  content: Json;
  blocks: Json[];
  hash: string;
  /** What the person had filled in when they last pressed or submitted something. */
  values: ViewValues;
  errors: Readonly<Record<string, string>>;
}

export function openModal(world: World, person: string, content: Json): StoredView {
  const view = newView(person, content, null);
  world.modals.set(person, [view]);
  changed(world);
  return view;
}

export function pushModal(world: World, person: string, content: Json): StoredView | null {
  const stack = modalsOf(world, person);
  const top = stack.at(-1);
  if (!top || stack.length >= 3) return null;
  const view = newView(person, content, top);
  stack.push(view);
  changed(world);
  return view;
}

export function publishHome(world: World, person: string, content: Json): StoredView {
  const existing = world.homes.get(person);
  if (existing) {
    replaceContent(world, existing, content);
    return existing;
  }
  const view = newView(person, content, null);
  world.homes.set(person, view);
  changed(world);
  return view;
}

export function replaceContent(world: World, view: StoredView, content: Json): void {
  Object.assign(view, contentOf(content), { errors: {} });
  changed(world);
}

export function closeModal(world: World, view: StoredView): void {
  const stack = modalsOf(world, view.person);
  if (stack.includes(view)) stack.splice(stack.indexOf(view), 1);
  changed(world);
}

export function closeAllModals(world: World, person: string): void {
  world.modals.set(person, []);
  changed(world);
}

export function modalsOf(world: World, person: string): StoredView[] {
  const stack = world.modals.get(person) ?? [];
  world.modals.set(person, stack);
  return stack;
}

export function allViews(world: World): StoredView[] {
  return [...[...world.modals.values()].flat(), ...world.homes.values()];
}

export function viewById(world: World, id: string): StoredView | undefined {
  return allViews(world).find((view) => view.id === id);
}

export function viewByExternalId(world: World, externalId: string): StoredView | undefined {
  return allViews(world).find((view) => view.content.external_id === externalId);
}

function newView(person: string, content: Json, below: StoredView | null): StoredView {
  const id = freshId('V');
  return {
    id,
    person,
    type: content.type === 'home' ? 'home' : 'modal',
    rootId: below?.rootId ?? id,
    previousId: below?.id ?? null,
    ...contentOf(content),
    values: {},
    errors: {},
  };
}

function contentOf(content: Json): Pick<StoredView, 'content' | 'blocks' | 'hash'> {
  return { content, blocks: completed(jsonList(content.blocks)), hash: freshId('h') };
}

/** A view as Slack writes it, with the state of its inputs. */
export function viewJson(world: World, view: StoredView): Json {
  const { teamId, appId, botId } = world.workspace;
  const { content } = view;
  return {
    id: view.id,
    team_id: teamId,
    type: view.type,
    blocks: view.blocks,
    private_metadata: stringOr(content.private_metadata, ''),
    callback_id: stringOr(content.callback_id, ''),
    external_id: stringOr(content.external_id, ''),
    state: { values: stateValues(view.blocks, view.values) },
    hash: view.hash,
    title: content.title ?? { type: 'plain_text', text: 'View Title', emoji: true },
    submit: content.submit ?? null,
    close: content.close ?? null,
    clear_on_close: content.clear_on_close === true,
    notify_on_close: content.notify_on_close === true,
    previous_view_id: view.previousId,
    root_view_id: view.rootId,
    app_id: appId,
    app_installed_team_id: teamId,
    bot_id: botId,
  };
}
