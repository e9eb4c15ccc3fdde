import express, { type Request, Router } from 'express';
import { z } from 'zod';
import type { AlertsSimulator } from '../alerts/simulator.ts';
import { FAULT_CHOICES } from '../faults/injector.ts';
import { ActiveFault, AlertTurn, type Panel, type RecordedRequest } from '../protocol.ts';
import type { LoggedRequest } from './request-log.ts';
import type { Simulator } from './simulator.ts';

interface PanelOptions {
  readonly cloud: Simulator;
  readonly alerts: AlertsSimulator;
  /** Called when the panel may have changed: a request, its reply or a fault. */
  readonly changed: () => void;
}

const MAX_REQUESTS = 200;

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
  route('/panel/faults', (body) => injectFault(options, body));
  route('/panel/alert', (body) => turnAlert(options, body));
  route('/panel/clear', () => {
    cloud.clearFaults();
    alerts.clearFaults();
    return null;
  });
  return router;
}

function injectFault(options: PanelOptions, body: unknown): string | null {
  const input = ActiveFault.safeParse(body);
  if (!input.success) return z.prettifyError(input.error);
  const { api, ...setting } = input.data;
  const problem = options[api].faultProblem(setting);
  if (problem === null) options[api].injectFault(setting);
  return problem;
}

async function turnAlert({ alerts }: PanelOptions, body: unknown): Promise<string | null> {
  const input = AlertTurn.safeParse(body);
  if (!input.success) return z.prettifyError(input.error);
  const status = await alerts.turn(input.data.id, input.data.to);
  return status === 202 ? null : `the bot answered the webhook with ${status ?? 'nothing'}`;
}

function panel({ cloud, alerts }: PanelOptions): Panel {
  return {
    requests: latest([...cloud.requests(), ...alerts.requests()]),
    operations: { cloud: cloud.operations, alerts: alerts.operations },
    alerts: alerts.alerts().flatMap(({ id, name, state }) => (name ? [{ id, name, state }] : [])),
    faults: FAULT_CHOICES,
    activeFaults: [...cloud.activeFaults(), ...alerts.activeFaults()],
  };
}

function latest(requests: readonly LoggedRequest[]): readonly RecordedRequest[] {
  return requests
    .toReversed()
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, MAX_REQUESTS)
    .map(({ headers: _, body: _body, reply: _reply, ...listed }) => listed);
}
