export const STYLE = `
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1c1e;background:#fff}
h2{margin:2rem 0 .2rem;text-transform:capitalize}
code,pre{font:13px/1.45 ui-monospace,monospace}
pre{background:#f4f4f6;padding:.7rem;overflow:auto;border-radius:6px}
details{border:1px solid #d9d9de;border-radius:6px;margin:.4rem 0;padding:.3rem .7rem}
summary{cursor:pointer}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;border-top:1px solid #e5e5ea;padding:.25rem .6rem .25rem 0}
.m{display:inline-block;min-width:4.2rem;font-weight:700;text-transform:uppercase}
.get{color:#0a6b2e}.post{color:#0b57a4}.put,.patch{color:#8a5a00}.delete{color:#a3182b}
.s{color:#5c5c66}
@media(prefers-color-scheme:dark){body{color:#e8e8ea;background:#161618}pre{background:#232326}
details,td,th{border-color:#3a3a3f}.get{color:#6fd08c}.post{color:#7db7f0}.put,.patch{color:#e0b15c}.delete{color:#f08a97}.s{color:#a5a5ad}a{color:#9cc4f5}}
`;
