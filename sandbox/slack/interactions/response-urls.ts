import { randomBytes } from 'node:crypto';
import express, { type Router } from 'express';
import { parseJson, record } from '../../json.ts';
import type { ReplyTarget } from '../records.ts';
import type { SlackState } from '../state.ts';
import { type SlackFault, takeFault } from '../web-api/faults.ts';
import { applyReply } from './replies.ts';

const VALID_MS = 30 * 60_000;
const MAX_USES = 5;
/** The method of a fault for the next use of a response_url. */
const RESPONSE_URL = 'response_url';

export function issueResponseUrl(slack: SlackState, target: ReplyTarget): string {
  const key = randomBytes(12).toString('hex');
  slack.responseUrls.set(key, { target, issuedAt: slack.now().getTime(), uses: 0 });
  return `${slack.url}/actions/${slack.workspace.teamId}/${key}`;
}

export function responseUrlRoutes(slack: SlackState): Router {
  const router = express.Router();
  const body = express.text({ type: () => true, limit: '1mb' });
  router.post('/actions/:team/:key', body, (request, response) => {
    const result = reply(slack, String(request.params.key), String(request.body));
    response.status(result.status).json(result.json);
  });
  return router;
}

function reply(slack: SlackState, key: string, body: string) {
  const issued = slack.responseUrls.get(key);
  if (!issued || slack.now().getTime() - issued.issuedAt > VALID_MS) {
    return { status: 404, json: { ok: false, error: 'expired_url' } };
  }
  if (issued.uses >= MAX_USES) return { status: 404, json: { ok: false, error: 'used_url' } };
  issued.uses += 1;
  const fault = slack.faults.some(({ method }) => method === RESPONSE_URL)
    ? takeFault(slack.faults, RESPONSE_URL)
    : null;
  if (fault) return faultReply(fault);
  const json = applyReply(slack, issued.target, record(parseJson(body)));
  return { status: json.ok === true ? 200 : 400, json };
}

// Slack reports some refusals with status 200, so that only the body shows them.
function faultReply({ how }: SlackFault) {
  if (typeof how === 'object') return { status: 200, json: { ok: false, error: how.error } };
  return { status: 500, json: { ok: false, error: 'internal_error' } };
}
