import { Router } from 'express';
import type { GuideProgress, GuideStepId } from '../protocol.ts';
import type { StoredMessage, UserInteraction } from '../slack/records.ts';

const APPROVALS = 'db-approvals';
const COSTS = 'db-costs';

/** What the guide reads from the simulators. */
interface GuideSources {
  readonly interactions: () => readonly UserInteraction[];
  /** The messages of a channel, ephemeral ones included. */
  readonly messages: (channel: string) => readonly StoredMessage[];
  /** The times at which a write took effect on the server of the cloud API. */
  readonly effects: () => readonly { readonly at: string }[];
}

type Evidence = (sources: GuideSources) => boolean;

const isPost = ({ byBot, ephemeralFor, threadTs }: StoredMessage): boolean =>
  byBot && ephemeralFor === null && threadTs === null;

const interactionsWith = ({ interactions }: GuideSources, ...names: string[]) =>
  interactions().filter(({ name }) => names.includes(name));

/** A press of Approve is answered by an ephemeral message only if it is refused. */
function hasRefusal(sources: GuideSources): boolean {
  const approvals = interactionsWith(sources, 'change.approve');
  return sources
    .messages(APPROVALS)
    .some(
      ({ byBot, ephemeralFor, ts }) =>
        byBot &&
        approvals.some(({ person, at }) => person === ephemeralFor && isAfter(ts, at.getTime())),
    );
}

const isAfter = (ts: string, atMs: number): boolean => Number(ts) * 1000 >= atMs;

/** The press of either button only opens its form. */
const ANSWERS = ['submit change.happened', 'submit change.did-not-happen'];

/** Allowed to Slackbot, then confirmed by the same person, then written on the server. */
function isAskedAndApplied(sources: GuideSources): boolean {
  const allowed = interactionsWith(sources, 'slackbot.allow')[0];
  const confirmed = interactionsWith(sources, 'change.confirm').find(
    ({ person, at }) => allowed && person === allowed.person && at >= allowed.at,
  );
  return (
    confirmed !== undefined && sources.effects().some(({ at }) => new Date(at) >= confirmed.at)
  );
}

const EVIDENCE: Readonly<Record<GuideStepId, Evidence>> = {
  request: (sources) =>
    interactionsWith(sources, 'change.confirm').length > 0 &&
    sources.messages(APPROVALS).some(isPost),
  refusal: hasRefusal,
  approve: ({ effects }) => effects().length > 0,
  unknown: (sources) => interactionsWith(sources, ...ANSWERS).length > 0,
  costs: (sources) =>
    interactionsWith(sources, '/cost').length > 0 && sources.messages(COSTS).some(isPost),
  ask: isAskedAndApplied,
};

/** The steps that are done, judged by what the simulators have seen since this time. */
export function guideProgress(sources: GuideSources, since: Date): GuideProgress {
  const recent = sourcesSince(sources, since.getTime());
  const steps = Object.entries(EVIDENCE).filter(([, isSeen]) => isSeen(recent));
  // The keys of a record with these keys.
  return { done: steps.map(([id]) => id as GuideStepId) };
}

function sourcesSince(sources: GuideSources, sinceMs: number): GuideSources {
  return {
    interactions: () => sources.interactions().filter(({ at }) => at.getTime() >= sinceMs),
    messages: (channel) => sources.messages(channel).filter(({ ts }) => isAfter(ts, sinceMs)),
    effects: () => sources.effects().filter(({ at }) => Date.parse(at) >= sinceMs),
  };
}

/** The route with which the page reads the progress, to be mounted below `/sandbox`. */
export function guideRoutes(progress: () => GuideProgress): Router {
  const router = Router();
  router.get('/guide', (_, response) => void response.json(progress()));
  return router;
}
