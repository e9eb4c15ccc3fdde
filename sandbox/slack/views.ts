import type { Json, ViewValues } from '../protocol.ts';
import { completed, stateValues } from './block-elements.ts';
import { jsonList, stringOr } from './json.ts';
import { changed, freshId, type SlackState } from './state.ts';

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

export function openModal(slack: SlackState, person: string, content: Json): StoredView {
  const view = newView(person, content, null);
  slack.modals.set(person, [view]);
  changed(slack);
  return view;
}

export function pushModal(slack: SlackState, person: string, content: Json): StoredView | null {
  const stack = modalsOf(slack, person);
  const top = stack.at(-1);
  if (!top || stack.length >= 3) return null;
  const view = newView(person, content, top);
  stack.push(view);
  changed(slack);
  return view;
}

export function publishHome(slack: SlackState, person: string, content: Json): StoredView {
  const existing = slack.homes.get(person);
  if (existing) {
    replaceContent(slack, existing, content);
    return existing;
  }
  const view = newView(person, content, null);
  slack.homes.set(person, view);
  changed(slack);
  return view;
}

export function replaceContent(slack: SlackState, view: StoredView, content: Json): void {
  Object.assign(view, contentOf(content), { errors: {} });
  changed(slack);
}

export function closeModal(slack: SlackState, view: StoredView): void {
  const stack = modalsOf(slack, view.person);
  if (stack.includes(view)) stack.splice(stack.indexOf(view), 1);
  changed(slack);
}

export function closeAllModals(slack: SlackState, person: string): void {
  slack.modals.set(person, []);
  changed(slack);
}

export function modalsOf(slack: SlackState, person: string): StoredView[] {
  const stack = slack.modals.get(person) ?? [];
  slack.modals.set(person, stack);
  return stack;
}

export function allViews(slack: SlackState): StoredView[] {
  return [...[...slack.modals.values()].flat(), ...slack.homes.values()];
}

export function viewById(slack: SlackState, id: string): StoredView | undefined {
  return allViews(slack).find((view) => view.id === id);
}

export function viewByExternalId(slack: SlackState, externalId: string): StoredView | undefined {
  return allViews(slack).find((view) => view.content.external_id === externalId);
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
export function viewJson(slack: SlackState, view: StoredView): Json {
  const { teamId, appId, botId } = slack.workspace;
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
