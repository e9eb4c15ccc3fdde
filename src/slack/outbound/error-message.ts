import { ApiError } from '../../base/errors.ts';
import { isDatabaseUnavailable } from '../../workflow/limits/database-unavailable.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import { fact, lines, type Message, message, title } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { DATABASE_AWAY } from '../inbound/store-or-reply.ts';
import { refusedBySlack } from '../slack-error.ts';

/** What to do next, by HTTP status. */
const ADVICE: Readonly<Record<number, string>> = {
  400: 'The server rejected the request (see above).',
  401: 'The server rejected the API key. A Signalbox administrator can renew it.',
  403: 'The API key lacks the permission. A Signalbox administrator can grant it.',
  404: 'Not found: it may have expired, or it belongs to another service.',
  424: 'The service must be running. Signalbox does not start it automatically.',
  429: 'Too many requests were sent. Try again in a minute.',
};

interface MissingObject {
  readonly title: string;
  readonly advice: string;
}

/** What a 404 means, by operation. */
const MISSING: Readonly<Record<string, MissingObject>> = {
  getAlert: { title: 'There is no such alert', advice: 'It may have been deleted.' },
  getBackup: {
    title: 'There is no such backup',
    advice: 'It may have expired, or it belongs to another service.',
  },
  // A pipe that works well can have no settings.
  getPipeSettings: {
    title: 'This pipe has no settings',
    advice:
      'Pipes that copy a database have none. Any other pipe was deleted or belongs to another service.',
  },
};

/** The object that the server does not have; null for any other error. */
export function missingObject(error: unknown): MissingObject | null {
  if (!(error instanceof ApiError) || error.status !== 404 || error.kind !== 'answer') return null;
  return MISSING[error.operation] ?? null;
}

/** Slack opens a form within 3 s after the interaction, with two names for the error after that. */
const TOO_LATE = ['expired_trigger_id', 'trigger_expired'];

/** What a user reads after an API or database error, or for a late form; null for any other error. */
export function errorMessage(error: unknown): Message | null {
  if (TOO_LATE.includes(refusedBySlack(error) ?? '')) {
    return sentenceMessage(['The form could not open within 3 s. Nothing was changed. Try again.']);
  }
  if (!(error instanceof ApiError)) {
    return isDatabaseUnavailable(error) ? sentenceMessage([DATABASE_AWAY]) : null;
  }
  const { status, serverText, requestId, kind, sentence } = error;
  if (kind === 'wrong-address') {
    return sentenceMessage([
      'The configured address does not respond like the API. Check the configuration.',
    ]);
  }
  const missing = missingObject(error);
  const response = [status, serverText].filter((part) => part !== null).join(' ');
  const facts: Line[] = [
    ...(serverText === null
      ? withoutResponse(sentence, status)
      : [fact('Server response', response)]),
    ...(requestId ? [fact('Request', requestId)] : []),
  ];
  if (missing) return message(title(missing.title), lines([missing.advice], ...facts));
  const advice = ADVICE[status ?? 0] ?? 'Nothing was changed. Try again in a minute.';
  return message(title('Request failed'), lines(...facts, [advice]));
}

// Without a readable response only the kind of error is known, and the status if it is an error.
function withoutResponse(sentence: string, status: number | null): Line[] {
  return [[sentence], ...(status !== null && status >= 400 ? [fact('Status', `${status}`)] : [])];
}
