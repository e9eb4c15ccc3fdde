/** `1 event`, `2 events`; with what follows, where that has to agree: `1 older one follows`. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
