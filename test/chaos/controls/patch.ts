import { DEFECTS, HARMLESS } from './defects.ts';

/** The source of a file with the defect that the environment names; others as they are. */
export function withDefect(path: string, source: string): string {
  const name = process.env.SIGNALBOX_DEFECT;
  const defect = [...DEFECTS, ...HARMLESS].find((each) => each.name === name);
  if (!defect || !path.endsWith(`/${defect.file}`)) return source;
  const parts = source.split(defect.find);
  if (parts.length !== 2) throw new Error(`“${name}” does not fit ${defect.file} any more`);
  return parts.join(defect.put);
}
