import { ApiError } from '../../errors.ts';
import { isDatabaseUnavailable } from '../../workflow/limits/database-unavailable.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import { fact, lines, type Message, message, title } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { DATABASE_AWAY } from '../inbound/store-or-reply.ts';

/** What to do next, by HTTP status. */
const ADVICE: Readonly<Record<number, string>> = {
  400: 'The server rejected the request (see above).',
  401: 'The server rejected the API key. A Signalbox administrator can renew it.',
  403: 'The API key lacks the permission. A Signalbox administrator can grant it.',
  404: 'Not found: it may have expired, or it belongs to another service.',
  424: 'The service must be running. Signalbox does not start it automatically.',
  429: 'Too many requests were sent. Try again in a minute.',
};

/** What a user reads after an API or database error; null for any other error. */
export function errorMessage(error: unknown): Message | null {
  if (!(error instanceof ApiError)) {
    return isDatabaseUnavailable(error) ? sentenceMessage([DATABASE_AWAY]) : null;
  }
  const { status, serverText, requestId, kind, sentence } = error;
  if (kind === 'wrong-address') {
    return sentenceMessage([
      'The configured address does not respond like the API. Check the configuration.',
    ]);
  }
  const response = [status, serverText].filter((part) => part !== null).join(' ');
  const facts: Line[] = [
    ...(serverText === null
      ? withoutResponse(sentence, status)
      : [fact('Server response', response)]),
    ...(requestId ? [fact('Request', requestId)] : []),
    [ADVICE[status ?? 0] ?? 'Nothing was changed. Try again in a minute.'],
  ];
  return message(title('Request failed'), lines(...facts));
}

// Without a readable response only the kind of error is known, and the status if it is an error.
function withoutResponse(sentence: string, status: number | null): Line[] {
  return [[sentence], ...(status !== null && status >= 400 ? [fact('Status', `${status}`)] : [])];
}
