import type { Closed, Delivery, Json, Submitted } from '../../protocol.ts';
import { viewProblems } from '../block-kit/validate.ts';
import { type Answer, delivery, notAsked } from '../delivery/answer.ts';
import { isJson, parsed } from '../json.ts';
import { changed, type World } from '../state.ts';
import {
  closeAllModals,
  closeModal,
  modalsOf,
  pushModal,
  replaceContent,
  type StoredView,
  viewJson,
} from '../views.ts';
import type { Member } from '../workspace.ts';
import { actingPerson, envelope } from './actor.ts';
import { complaints } from './field-errors.ts';
import { modalOf } from './surfaces.ts';
import { issueTrigger } from './triggers.ts';

export const TROUBLE = 'We had some trouble connecting. Try again?';

/** A person presses a modal's submit button. */
export async function submit(world: World, submitted: Submitted): Promise<Delivery> {
  const person = actingPerson(world, submitted.as);
  const view = modalOf(world, person, submitted.viewId);
  view.values = submitted.values;
  view.errors = complaints(view);
  changed(world);
  if (Object.keys(view.errors).length > 0) return notAsked('Some fields need another look.');
  const answer = await world.courier('interactive', {
    type: 'view_submission',
    ...envelope(world, person),
    trigger_id: issueTrigger(world, person.id, view.id),
    view: viewJson(world, view),
    response_urls: [],
  });
  const taken = answer.failure === null && obey(world, view, answer);
  return delivery(answer, taken ? null : TROUBLE);
}

/** Does what the acknowledgement asks for; false when it asks for something impossible. */
function obey(world: World, view: StoredView, answer: Answer): boolean {
  if (answer.body.trim() === '') {
    closeModal(world, view);
    return true;
  }
  const body = parsed(answer.body);
  if (!isJson(body)) return false;
  switch (body.response_action) {
    case undefined:
      if (Object.keys(body).length > 0) return false;
      closeModal(world, view);
      return true;
    case 'clear':
      closeAllModals(world, view.person);
      return true;
    case 'errors':
      return showErrors(world, view, body.errors);
    case 'update':
    case 'push':
      return showView(world, view, body);
    default:
      return false;
  }
}

/** Errors belong to input blocks; one for anything else spoils the whole answer. */
function showErrors(world: World, view: StoredView, errors: unknown): boolean {
  if (!isJson(errors)) return false;
  const inputs = view.blocks.filter(({ type }) => type === 'input').map((block) => block.block_id);
  const entries = Object.entries(errors);
  if (entries.length === 0 || !entries.every(([id]) => inputs.includes(id))) return false;
  view.errors = Object.fromEntries(entries.map(([id, error]) => [id, String(error)]));
  changed(world);
  return true;
}

function showView(world: World, view: StoredView, { response_action, view: next }: Json): boolean {
  if (!isJson(next) || next.type !== 'modal' || viewProblems(next).length > 0) return false;
  if (response_action === 'push') return pushModal(world, view.person, next) !== null;
  replaceContent(world, view, next);
  return true;
}

/** A person closes a modal without submitting it. */
export async function close(world: World, closed: Closed): Promise<Delivery> {
  const person = actingPerson(world, closed.as);
  const view = modalOf(world, person, closed.viewId);
  const all = view.content.clear_on_close === true;
  const gone = all ? [...modalsOf(world, person.id)] : [view];
  if (all) closeAllModals(world, person.id);
  else closeModal(world, view);
  const told = gone.filter(({ content }) => content.notify_on_close === true);
  const answers = await Promise.all(told.map((one) => tellClosed(world, person, one, all)));
  const failed = answers.find(({ failure }) => failure !== null);
  const answer = failed ?? answers[0];
  // The modal is gone whatever the app says to it, so a person never sees an error here.
  return answer ? delivery(answer, null) : { status: 200, ms: 0, body: '', error: null };
}

function tellClosed(world: World, person: Member, view: StoredView, all: boolean) {
  return world.courier('interactive', {
    type: 'view_closed',
    ...envelope(world, person),
    view: viewJson(world, view),
    is_cleared: all,
  });
}
