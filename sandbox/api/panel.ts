import express, { type Request, Router } from 'express';
import { z } from 'zod';
import type { AlertsSimulator } from '../alerts/simulator.ts';
import { FAULT_CHOICES } from '../faults/injector.ts';
import type { Panel, RecordedRequest, RequestContent } from '../protocol.ts';
import type { LoggedRequest } from './request-log.ts';
import type { Simulator } from './simulator.ts';

/** A simulator with its profiles, whichever API it serves. */
export interface ProfiledSimulator extends Simulator {
  readonly profiles: readonly string[];
  profile(name?: string): string;
}

interface PanelOptions {
  readonly cloud: ProfiledSimulator;
  readonly alerts: ProfiledSimulator & Pick<AlertsSimulator, 'alerts' | 'turn'>;
  /** Called when the panel may have changed: a request, its reply, a fault or a profile. */
  readonly changed: () => void;
}

const MAX_REQUESTS = 200;
const MAX_REPLY_CHARACTERS = 20_000;

const Api = z.enum(['cloud', 'alerts']);
const FaultInput = z.strictObject({
  api: Api,
  operation: z.string(),
  fault: z.string(),
  times: z.number(),
});
const ProfileInput = z.strictObject({ api: Api, profile: z.string() });
const TurnInput = z.strictObject({ id: z.string(), to: z.enum(['firing', 'resolved']) });
const RequestParams = z.object({ api: Api, key: z.coerce.number() });

/** The routes of the panel, to be mounted below `/sandbox`. */
export function panelRoutes(options: PanelOptions): Router {
  const { cloud, alerts, changed } = options;
  cloud.onRequest(changed);
  alerts.onRequest(changed);
  const router = Router();
  const route = (path: string, apply: (body: unknown) => string | null | Promise<string | null>) =>
    router.post(path, async ({ body }: Request, response) => {
      const problem = await apply(body);
      if (problem !== null) return void response.status(400).json({ error: problem });
      changed();
      response.json(panel(options));
    });

  router.use('/panel', express.json());
  router.get('/panel', (_, response) => void response.json(panel(options)));
  router.get('/panel/requests/:api/:key', ({ params }, response) => {
    const content = contentOf(options, params);
    if (content) return void response.json(content);
    response.status(404).json({ error: 'this request is no longer recorded' });
  });
  route('/panel/faults', (body) => injectFault(options, body));
  route('/panel/profile', (body) => setProfile(options, body));
  route('/panel/alert', (body) => turnAlert(options, body));
  route('/panel/clear', () => {
    cloud.clearFaults();
    alerts.clearFaults();
    return null;
  });
  return router;
}

function injectFault(options: PanelOptions, body: unknown): string | null {
  const input = FaultInput.safeParse(body);
  if (!input.success) return z.prettifyError(input.error);
  const { api, ...setting } = input.data;
  const problem = options[api].faultProblem(setting);
  if (problem === null) options[api].injectFault(setting);
  return problem;
}

async function turnAlert({ alerts }: PanelOptions, body: unknown): Promise<string | null> {
  const input = TurnInput.safeParse(body);
  if (!input.success) return z.prettifyError(input.error);
  const status = await alerts.turn(input.data.id, input.data.to);
  return status === 202 ? null : `the bot answered the webhook with ${status ?? 'nothing'}`;
}

function setProfile(options: PanelOptions, body: unknown): string | null {
  const input = ProfileInput.safeParse(body);
  if (!input.success) return z.prettifyError(input.error);
  const { api, profile } = input.data;
  if (!options[api].profiles.includes(profile)) return `there is no profile “${profile}”`;
  options[api].profile(profile);
  return null;
}

function panel({ cloud, alerts }: PanelOptions): Panel {
  return {
    requests: latest([...cloud.requests(), ...alerts.requests()]),
    operations: { cloud: cloud.operations, alerts: alerts.operations },
    alerts: alerts.alerts().flatMap(({ id, name, state }) => (name ? [{ id, name, state }] : [])),
    faults: FAULT_CHOICES,
    activeFaults: [...cloud.activeFaults(), ...alerts.activeFaults()],
    profiles: {
      cloud: { current: cloud.profile(), all: cloud.profiles },
      alerts: { current: alerts.profile(), all: alerts.profiles },
    },
  };
}

function latest(requests: readonly LoggedRequest[]): readonly RecordedRequest[] {
  return requests
    .toReversed()
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, MAX_REQUESTS)
    .map(({ headers: _, body: _body, reply: _reply, ...listed }) => listed);
}

/** Returns null for a request that is no longer recorded, or never was. */
function contentOf(options: PanelOptions, params: unknown): RequestContent | null {
  const request = RequestParams.safeParse(params);
  if (!request.success) return null;
  const { api, key } = request.data;
  const logged = options[api].requests().find((each) => each.key === key);
  return logged ? { body: logged.body, reply: safeReply(logged.reply) } : null;
}

// Anyone can open the page, but only one person may see the password of a new service.
function safeReply(reply: unknown): unknown {
  const text = JSON.stringify(reply, (key, value) => (key === 'password' ? '(hidden)' : value));
  if (text === undefined) return null;
  if (text.length <= MAX_REPLY_CHARACTERS) return JSON.parse(text);
  return `${text.slice(0, MAX_REPLY_CHARACTERS)}… (${text.length} characters)`;
}
