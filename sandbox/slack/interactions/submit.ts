import type { Delivery, Json, ViewClosed, ViewSubmission } from '../../protocol.ts';
import { viewProblems } from '../block-kit/validate.ts';
import { type Answer, delivery, notAsked } from '../delivery/answer.ts';
import { isJson, parsed } from '../json.ts';
import { changed, type SlackState } from '../state.ts';
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
import { fieldErrors } from './field-errors.ts';
import { modalOf } from './surfaces.ts';
import { issueTrigger } from './triggers.ts';

export const SUBMIT_FAILED = 'We had some trouble connecting. Try again?';

/** A person presses a modal's submit button. */
export async function submit(slack: SlackState, submitted: ViewSubmission): Promise<Delivery> {
  const person = actingPerson(slack, submitted.as);
  const view = modalOf(slack, person, submitted.viewId);
  view.values = submitted.values;
  view.errors = fieldErrors(view);
  changed(slack);
  if (Object.keys(view.errors).length > 0) return notAsked('Some fields need another look.');
  const answer = await slack.deliverToApp('interactive', {
    type: 'view_submission',
    ...envelope(slack, person),
    trigger_id: issueTrigger(slack, person.id, view.id),
    view: viewJson(slack, view),
    response_urls: [],
  });
  const taken = answer.failure === null && obey(slack, view, answer);
  return delivery(answer, taken ? null : SUBMIT_FAILED);
}

/** Does what the acknowledgement asks for; false when it asks for something impossible. */
function obey(slack: SlackState, view: StoredView, answer: Answer): boolean {
  if (answer.body.trim() === '') {
    closeModal(slack, view);
    return true;
  }
  const body = parsed(answer.body);
  if (!isJson(body)) return false;
  switch (body.response_action) {
    case undefined:
      if (Object.keys(body).length > 0) return false;
      closeModal(slack, view);
      return true;
    case 'clear':
      closeAllModals(slack, view.person);
      return true;
    case 'errors':
      return showErrors(slack, view, body.errors);
    case 'update':
    case 'push':
      return showView(slack, view, body);
    default:
      return false;
  }
}

/** Errors belong to input blocks; one for anything else spoils the whole answer. */
function showErrors(slack: SlackState, view: StoredView, errors: unknown): boolean {
  if (!isJson(errors)) return false;
  const inputs = view.blocks.filter(({ type }) => type === 'input').map((block) => block.block_id);
  const entries = Object.entries(errors);
  if (entries.length === 0 || !entries.every(([id]) => inputs.includes(id))) return false;
  view.errors = Object.fromEntries(entries.map(([id, error]) => [id, String(error)]));
  changed(slack);
  return true;
}

function showView(
  slack: SlackState,
  view: StoredView,
  { response_action, view: next }: Json,
): boolean {
  if (!isJson(next) || next.type !== 'modal' || viewProblems(next).length > 0) return false;
  if (response_action === 'push') return pushModal(slack, view.person, next) !== null;
  replaceContent(slack, view, next);
  return true;
}

/** A person closes a modal without submitting it. */
export async function close(slack: SlackState, closed: ViewClosed): Promise<Delivery> {
  const person = actingPerson(slack, closed.as);
  const view = modalOf(slack, person, closed.viewId);
  const all = view.content.clear_on_close === true;
  const gone = all ? [...modalsOf(slack, person.id)] : [view];
  if (all) closeAllModals(slack, person.id);
  else closeModal(slack, view);
  const told = gone.filter(({ content }) => content.notify_on_close === true);
  const answers = await Promise.all(told.map((one) => tellClosed(slack, person, one, all)));
  const failed = answers.find(({ failure }) => failure !== null);
  const answer = failed ?? answers[0];
  // The modal is gone whatever the app says to it, so a person never sees an error here.
  return answer ? delivery(answer, null) : { status: 200, ms: 0, body: '', error: null };
}

function tellClosed(slack: SlackState, person: Member, view: StoredView, all: boolean) {
  return slack.deliverToApp('interactive', {
    type: 'view_closed',
    ...envelope(slack, person),
    view: viewJson(slack, view),
    is_cleared: all,
  });
}
