export default { agent: () => <p>agent</p> };
