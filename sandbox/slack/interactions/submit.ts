import { isJson, parseJson } from '../../json.ts';
import type { Delivery, Requests } from '../../protocol.ts';
import { viewProblems } from '../block-kit/validate.ts';
import { deliveryOf, notSent, refusedBySlack } from '../delivery/delivery.ts';
import type { StoredView } from '../records.ts';
import { notifyWatchers, type SlackState } from '../state.ts';
import { closeModal, replaceContent, viewJson } from '../views.ts';
import { actingPerson, commonFields } from './actor.ts';
import { fieldErrors } from './field-errors.ts';
import { modalOf } from './surfaces.ts';
import { issueTrigger } from './triggers.ts';

const SUBMIT_FAILED = 'We had some trouble connecting. Try again?';

/** A person presses the submit button of a modal. */
export async function submit(slack: SlackState, submission: Requests['submit']): Promise<Delivery> {
  const person = actingPerson(slack, submission.as);
  const view = modalOf(slack, person, submission.viewId);
  view.values = submission.values;
  showErrors(slack, view, fieldErrors(view));
  if (Object.keys(view.errors).length > 0) return refusedBySlack('Fix the fields with errors.');
  const response = await slack.deliverToApp('interactive', {
    type: 'view_submission',
    ...commonFields(slack, person),
    trigger_id: issueTrigger(slack, person.id),
    view: viewJson(slack, view),
    response_urls: [],
  });
  const isApplied = response.failure === null && applyResponse(slack, view, response.body);
  return deliveryOf(response, isApplied ? null : SUBMIT_FAILED);
}

/** Applies the response action in the acknowledgement; returns false when it is not valid. */
function applyResponse(slack: SlackState, view: StoredView, text: string): boolean {
  const body = text.trim() === '' ? {} : parseJson(text);
  if (!isJson(body)) return false;
  const { response_action: action, errors, view: next } = body;
  if (action === 'errors') return applyErrors(slack, view, errors);
  if (action === 'update') {
    if (!isJson(next) || next.type !== 'modal' || viewProblems(next).length > 0) return false;
    replaceContent(slack, view, next);
    return true;
  }
  if (action !== 'clear' && Object.keys(body).length > 0) return false;
  closeModal(slack, view);
  return true;
}

/** Each error must belong to an input block; Slack refuses the whole response otherwise. */
function applyErrors(slack: SlackState, view: StoredView, errors: unknown): boolean {
  const inputs = view.blocks.filter(({ type }) => type === 'input').map((block) => block.block_id);
  const entries: [string, unknown][] = isJson(errors) ? Object.entries(errors) : [];
  if (entries.length === 0 || !entries.every(([id]) => inputs.includes(id))) return false;
  showErrors(slack, view, Object.fromEntries(entries.map(([id, error]) => [id, String(error)])));
  return true;
}

function showErrors(slack: SlackState, view: StoredView, errors: StoredView['errors']): void {
  view.errors = errors;
  notifyWatchers(slack);
}

/** A person closes a modal without submitting it. The app does not subscribe to this. */
export async function close(slack: SlackState, closed: Requests['close']): Promise<Delivery> {
  closeModal(slack, modalOf(slack, actingPerson(slack, closed.as), closed.viewId));
  return notSent;
}
