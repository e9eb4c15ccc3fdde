import { type Json, list, stringOf } from '../json.ts';
import { withIds } from './block-elements.ts';
import { stateValues } from './input-state.ts';
import type { StoredView } from './records.ts';
import { newId, notifyWatchers, type SlackState } from './state.ts';
import { memberOf } from './workspace/workspace.ts';

export function openModal(slack: SlackState, person: string, content: Json): StoredView {
  const view = newView(person, 'modal', content);
  slack.modals.set(person, view);
  notifyWatchers(slack);
  return view;
}

export function publishHome(slack: SlackState, person: string, content: Json): StoredView {
  const existing = slack.homes.get(person);
  const view = existing ?? newView(person, 'home', content);
  slack.homes.set(person, view);
  replaceContent(slack, view, content);
  return view;
}

export function replaceContent(slack: SlackState, view: StoredView, content: Json): void {
  Object.assign(view, contentFields(content), { errors: {} });
  notifyWatchers(slack);
}

export function closeModal(slack: SlackState, { person }: StoredView): void {
  slack.modals.delete(person);
  notifyWatchers(slack);
}

export function viewById(slack: SlackState, id: string): StoredView | undefined {
  return [...slack.modals.values(), ...slack.homes.values()].find((view) => view.id === id);
}

function newView(person: string, type: StoredView['type'], content: Json): StoredView {
  return { id: newId('V'), person, type, ...contentFields(content), values: {}, errors: {} };
}

function contentFields(content: Json): Pick<StoredView, 'content' | 'blocks' | 'hash'> {
  return { content, blocks: withIds(list(content.blocks)), hash: newId('h') };
}

/** A view in the shape of Slack's API, with the state of its inputs. */
export function viewJson(slack: SlackState, view: StoredView): Json {
  const { teamId, appId, botId, orgWide, enterpriseId } = slack.workspace;
  const { content } = view;
  return {
    id: view.id,
    team_id: memberOf(slack.workspace, view.person)?.teamId ?? teamId,
    type: view.type,
    blocks: view.blocks,
    private_metadata: stringOf(content.private_metadata),
    callback_id: stringOf(content.callback_id),
    external_id: '',
    state: { values: stateValues(view.blocks, view.values) },
    hash: view.hash,
    title: content.title ?? { type: 'plain_text', text: 'View Title', emoji: true },
    submit: content.submit ?? null,
    close: content.close ?? null,
    clear_on_close: false,
    notify_on_close: false,
    previous_view_id: null,
    root_view_id: view.id,
    app_id: appId,
    app_installed_team_id: orgWide ? enterpriseId : teamId,
    bot_id: botId,
  };
}
