type CsvCell = string | number;

/** The text of a CSV file (RFC 4180), with a header line. */
export function csvText(header: readonly string[], lines: readonly (readonly CsvCell[])[]): string {
  return [header, ...lines].map((line) => line.map(quoted).join(',')).join('\r\n');
}

// A name that begins like a formula would be evaluated by a spreadsheet; a plain number is not one.
function quoted(cell: CsvCell): string {
  if (typeof cell === 'number' || /^-?\d+(\.\d+)?$/.test(cell)) return String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
