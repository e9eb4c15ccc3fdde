import express, { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { FAULT_CHOICES } from '../faults/injector.ts';
import type { Panel, RecordedRequest } from '../protocol.ts';
import type { LoggedRequest } from './request-log.ts';
import type { Simulator } from './simulator.ts';

/** What the page can do with a simulator, whichever API it serves. */
export interface Steered extends Simulator {
  readonly profiles: readonly string[];
  profile(name?: string): string;
}

export interface PanelParts {
  readonly cloud: Steered;
  readonly alerts: Steered;
  /** Called whenever the panel may have changed: a request, its answer, a switch. */
  readonly changed: () => void;
}

const SHOWN_REQUESTS = 200;
const SHOWN_CHARACTERS = 20_000;

const Api = z.enum(['cloud', 'alerts']);
const Fault = z.strictObject({
  api: Api,
  operation: z.string(),
  fault: z.string(),
  times: z.number(),
});
const Profile = z.strictObject({ api: Api, profile: z.string() });

/** The panel's part of the sandbox's protocol, to be mounted below `/sandbox`. */
export function simulatorPanel(parts: PanelParts): Router {
  const { cloud, alerts, changed } = parts;
  cloud.onRequest(changed);
  alerts.onRequest(changed);
  const answer = (response: Response) => {
    changed();
    response.json(panel(parts));
  };

  const router = Router();
  router.use('/panel', express.json());
  router.get('/panel', (_, response) => void response.json(panel(parts)));
  router.post('/panel/faults', (request, response) => {
    const problem = setFault(parts, request);
    if (problem === null) answer(response);
    else response.status(400).json({ error: problem });
  });
  router.post('/panel/clear', (_, response) => {
    cloud.clearFaults();
    alerts.clearFaults();
    answer(response);
  });
  router.post('/panel/profile', (request, response) => {
    const problem = setProfile(parts, request);
    if (problem === null) answer(response);
    else response.status(400).json({ error: problem });
  });
  return router;
}

function setFault(parts: PanelParts, { body }: Request): string | null {
  const asked = Fault.safeParse(body);
  if (!asked.success) return z.prettifyError(asked.error);
  const { api, ...arming } = asked.data;
  const problem = parts[api].faultProblem(arming);
  if (problem === null) parts[api].injectFault(arming);
  return problem;
}

function setProfile(parts: PanelParts, { body }: Request): string | null {
  const asked = Profile.safeParse(body);
  if (!asked.success) return z.prettifyError(asked.error);
  const { api, profile } = asked.data;
  if (!parts[api].profiles.includes(profile)) return `there is no profile “${profile}”`;
  parts[api].profile(profile);
  return null;
}

function panel({ cloud, alerts }: PanelParts): Panel {
  return {
    requests: latest([...cloud.requests(), ...alerts.requests()]),
    operations: { cloud: cloud.operations, alerts: alerts.operations },
    faults: FAULT_CHOICES,
    activeFaults: [...cloud.activeFaults(), ...alerts.activeFaults()],
    profiles: {
      cloud: { now: cloud.profile(), all: cloud.profiles },
      alerts: { now: alerts.profile(), all: alerts.profiles },
    },
  };
}

function latest(requests: readonly LoggedRequest[]): readonly RecordedRequest[] {
  return requests
    .toReversed()
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, SHOWN_REQUESTS)
    .map(({ headers: _, ...seen }) => ({ ...seen, reply: shownReply(seen.reply) }));
}

// The page is read again at every change, and the password of a new service is for one person.
function shownReply(reply: unknown): unknown {
  const text = JSON.stringify(reply, (key, value) => (key === 'password' ? '(hidden)' : value));
  if (text === undefined) return null;
  if (text.length <= SHOWN_CHARACTERS) return JSON.parse(text);
  return `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)`;
}
