import { ageText, shortBytesText } from '../../base/text.ts';
import type { BackupReading } from '../../servers/cloud-readings.ts';
import { isFinished } from '../../servers/cloud-replies.ts';

/** Whether a restore can start from this backup, as far as its status says. */
export function isGood({ status }: BackupReading): boolean {
  return status === 'done';
}

/** The backup that was finished last, or null. */
export function latestGood(backups: readonly BackupReading[]): BackupReading | null {
  return newestFirst(backups).find(isGood) ?? null;
}

/** Servers usually list the newest first. A backup without a time is the last one. */
export function newestFirst(backups: readonly BackupReading[]): readonly BackupReading[] {
  return backups.toSorted((a, b) => timeOf(b) - timeOf(a));
}

/** `done · 3 h ago · 12 GiB · full`; values that the server does not send are left out. */
export function backupSummary(backup: BackupReading, now: Date): string {
  const { status, type, sizeInBytes } = backup;
  const at = reportedTime(backup.finishedAt ?? backup.startedAt);
  const unfinished = isFinished(backup) ? '' : ' so far';
  const size = sizeInBytes === null ? null : `${shortBytesText(sizeInBytes)}${unfinished}`;
  const parts = [status ?? 'status unknown', at && ageText(at, now), size, type];
  return parts.filter((part) => part !== null).join(' · ');
}

export function reportedTime(text: string | null): Date | null {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? null : at;
}

function timeOf({ startedAt, finishedAt }: BackupReading): number {
  return reportedTime(startedAt ?? finishedAt)?.getTime() ?? 0;
}
