/** One instruction of a Dockerfile, with its lines joined. */
export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

export interface Stage {
  readonly image: string;
  readonly name: string | null;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile. It supports the syntax that our Dockerfile uses. */
export function stagesOf(text: string): readonly Stage[] {
  const stages: { image: string; name: string | null; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(text)) {
    if (instruction.name === 'FROM') {
      const [image = '', , name = null] = instruction.rest.split(/\s+/);
      stages.push({ image, name, instructions: [] });
    } else {
      stages.at(-1)?.instructions.push(instruction);
    }
  }
  return stages;
}

function instructionsOf(text: string): readonly Instruction[] {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  const whole = lines.join('\n').replace(/\\\n\s*/g, ' ');
  return whole.split('\n').map((line) => {
    const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    return { name: name.toUpperCase(), rest: rest.trim() };
  });
}

export function restsOf(stage: Stage, name: string): readonly string[] {
  return stage.instructions.filter((one) => one.name === name).map(({ rest }) => rest);
}

/** The words of an instruction in exec form. Throws for the shell form, which does not pass signals on. */
export function execForm(rest: string): readonly string[] {
  const words: unknown = JSON.parse(rest.slice(rest.indexOf('[')));
  if (!Array.isArray(words)) throw new Error(`${rest} is not in exec form`);
  return words.map(String);
}
