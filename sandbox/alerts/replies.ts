import { jsonReply, type Reply, textReply } from '../api/reply.ts';
import { TRAITS } from './profiles.ts';
import type { AlertsState } from './state.ts';

/** One thing wrong with a request; an issue of the whole body has an empty path. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export function refusal(status: number, message: string): Reply {
  return jsonReply(status, { message });
}

/** 400 with every issue, in the form of the present profile. */
export function invalid(
  { profile }: AlertsState,
  part: 'Body' | 'Params' | 'Query',
  issues: readonly Issue[],
): Reply {
  if (TRAITS[profile].errors === 'array') {
    const listed = issues.map(({ path, message }) => ({ path: path ? [path] : [], message }));
    return jsonReply(400, [{ type: part, errors: { issues: listed } }]);
  }
  const texts = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  return refusal(400, `${part} validation failed: ${texts.join('; ')}`);
}

export function alertNotFound({ profile }: AlertsState): Reply {
  return TRAITS[profile].errors === 'array'
    ? textReply(404, 'Not Found')
    : refusal(404, 'Alert not found');
}
