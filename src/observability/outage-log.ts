import type { Logger } from 'pino';

interface OutageLines {
  readonly began: string;
  readonly ended: string;
}

export interface OutageLog {
  /** Logs the first failure of a kind. `kind` is from a closed list, for example an error code. */
  readonly failed: (kind: string, fields: object) => void;
  /** Logs once that the outage has ended, with the number of failures; without one it logs nothing. */
  readonly ended: () => void;
}

/** Logs one line per kind of failure and outage, where attempts repeat for hours, and its end. */
export function createOutageLog(log: Logger, { began, ended }: OutageLines): OutageLog {
  const kinds = new Set<string>();
  let failures = 0;
  return {
    failed: (kind, fields) => {
      failures += 1;
      if (!kinds.has(kind)) log.warn(fields, began);
      kinds.add(kind);
    },
    ended: () => {
      if (failures > 0) log.info({ failures }, ended);
      kinds.clear();
      failures = 0;
    },
  };
}
