// Two assertions are enough.
export function equal(found, wanted) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${a} is not ${b}`);
}

export function ok(yes, why = "it does not hold") {
  if (!yes) throw new Error(why);
}
