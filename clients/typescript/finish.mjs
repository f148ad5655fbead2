// Node reads the files in dist/cjs as CommonJS because of the package.json beside them.
import { writeFileSync } from "node:fs";

writeFileSync(new URL("dist/cjs/package.json", import.meta.url), '{ "type": "commonjs" }\n');
