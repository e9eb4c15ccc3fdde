import { jsonReply, Refused, textReply } from '../api/reply.ts';
import { TRAITS } from './profiles.ts';
import type { AlertsState } from './state.ts';

/** One problem with a request. The path is empty for a problem with the whole body. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export function refuse(status: number, message: string): never {
  throw new Refused(jsonReply(status, { message }));
}

/** Refuses with 400 and every issue, in the format of the current profile. */
export function refuseIssues(
  { profile }: AlertsState,
  part: 'Body' | 'Params' | 'Query',
  issues: readonly Issue[],
): void {
  if (issues.length === 0) return;
  if (TRAITS[profile].errors === 'array') {
    const listed = issues.map(({ path, message }) => ({ path: path ? [path] : [], message }));
    throw new Refused(jsonReply(400, [{ type: part, errors: { issues: listed } }]));
  }
  const texts = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  refuse(400, `${part} validation failed: ${texts.join('; ')}`);
}

export function refuseUnknownAlert({ profile }: AlertsState): never {
  if (TRAITS[profile].unknownAlert === 'text') throw new Refused(textReply(404, 'Not Found'));
  return refuse(404, 'Alert not found');
}
