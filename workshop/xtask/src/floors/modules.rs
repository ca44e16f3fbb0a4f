//! The modules of one crate, and the names that each defines, imports and uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItemFn, Item, ItemMod, Lit, Meta, Token, UseTree};

/// A path as code writes it, `crate::fault::Fault`; of a module, from the root of the crate on: `fault`.
pub(super) type Name = Vec<String>;

/// The modules of one crate, but for those that only tests compile.
#[derive(Default)]
pub(super) struct Modules {
    by_name: BTreeMap<Name, Module>,
    /// Which module uses which name.
    uses: Vec<(Name, Name)>,
}

struct Module {
    file: File,
    items: BTreeSet<String>,
    /// What a name in it stands for.
    imports: BTreeMap<String, Name>,
    /// Modules all of whose names it imports.
    globs: Vec<Name>,
}

/// A file of the crate, and the module that it is.
#[derive(Clone)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) module: Name,
}

/// Re-exports of re-exports; more are a circle.
const MOST_IMPORTS: usize = 16;

impl Modules {
    /// Reads the texts of a crate's files, by their paths from the folder of its root on.
    pub(super) fn read(texts: &BTreeMap<PathBuf, String>) -> anyhow::Result<Self> {
        let (mut modules, mut of_tests) = (Self::default(), Vec::new());
        for (path, text) in texts {
            let syntax = syn::parse_file(text).with_context(|| format!("cannot parse {}", path.display()))?;
            let file = File { path: path.clone(), module: module_of(path) };
            if is_for_tests(&syntax.attrs) {
                of_tests.push(file.module);
                continue;
            }
            let mut reader =
                Reader { at: file.module.clone(), file, is_in_body: false, modules: &mut modules, of_tests: &mut of_tests };
            reader.begin();
            reader.visit_file(&syntax);
        }
        let is_for_tests = |module: &Name| of_tests.iter().any(|tests| module.starts_with(tests));
        modules.by_name.retain(|module, _| !is_for_tests(module));
        modules.uses.retain(|(module, _)| !is_for_tests(module));
        Ok(modules)
    }

    pub(super) fn uses(&self) -> impl Iterator<Item = (&Name, &Name)> {
        self.uses.iter().map(|(module, name)| (module, name))
    }

    /// The file that a module is in.
    pub(super) fn file(&self, module: &Name) -> Option<&File> {
        self.by_name.get(module).map(|module| &module.file)
    }

    /// The module that defines what this name means in the module `at`; none if it is another crate's.
    pub(super) fn defining(&self, at: &Name, name: &[String]) -> Option<Name> {
        self.resolve(at, name, MOST_IMPORTS)
    }

    fn resolve(&self, at: &Name, name: &[String], imports_left: usize) -> Option<Name> {
        let (first, rest) = name.split_first()?;
        match first.as_str() {
            "crate" => Some(self.walk(Name::new(), rest, imports_left)),
            "self" | "super" => Some(self.walk(at.clone(), name, imports_left)),
            _ => {
                let is_imported = self.by_name.get(at).is_some_and(|module| module.imports.contains_key(first));
                let is_known = is_imported || self.by_name.contains_key(&child(at, first));
                is_known.then(|| self.walk(at.clone(), name, imports_left))
            }
        }
    }

    /// The module in which a name ends that begins in the module `at`.
    fn walk(&self, mut at: Name, name: &[String], imports_left: usize) -> Name {
        for (index, part) in name.iter().enumerate() {
            match part.as_str() {
                "self" => continue,
                "super" => {
                    at.pop();
                    continue;
                }
                _ => {}
            }
            let below = child(&at, part);
            if self.by_name.contains_key(&below) {
                at = below;
                continue;
            }
            let imported = self.imported(&at, part).filter(|_| imports_left > 0);
            let Some(mut whole) = imported else { return at };
            whole.extend_from_slice(&name[index + 1..]);
            // What another crate defines is the importing module's, for the others.
            return self.resolve(&at, &whole, imports_left - 1).unwrap_or(at);
        }
        at
    }

    /// What a name stands for that the module `at` imports, by itself or with all others of a module.
    fn imported(&self, at: &Name, part: &String) -> Option<Name> {
        let module = self.by_name.get(at)?;
        if let Some(name) = module.imports.get(part) {
            return Some(name.clone());
        }
        let has_it = |glob: &&Name| {
            let source = self.resolve(at, glob, 1).and_then(|source| self.by_name.get(&source));
            source.is_some_and(|source| source.items.contains(part) || source.imports.contains_key(part))
        };
        let glob = module.globs.iter().filter(|_| !module.items.contains(part)).find(has_it)?;
        Some(child(glob, part))
    }
}

fn child(module: &Name, name: &str) -> Name {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// `store/shard.rs` is `store::shard`; `lib.rs` and `main.rs` are the root.
fn module_of(path: &Path) -> Name {
    let mut module: Name = path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_root = module.len() == 1 && ["lib", "main"].contains(&module[0].as_str());
    if is_root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// Reads one file.
struct Reader<'m> {
    file: File,
    /// The module that is read, which may be one within the file.
    at: Name,
    /// Whether it is within a function, whose imports are its own.
    is_in_body: bool,
    modules: &'m mut Modules,
    of_tests: &'m mut Vec<Name>,
}

impl Reader<'_> {
    fn begin(&mut self) {
        let (items, imports) = (BTreeSet::new(), BTreeMap::new());
        let module = Module { file: self.file.clone(), items, imports, globs: Vec::new() };
        self.modules.by_name.insert(self.at.clone(), module);
    }

    fn note_use(&mut self, name: Name) {
        self.modules.uses.push((self.at.clone(), name));
    }

    fn note_item(&mut self, name: &syn::Ident) {
        if let Some(module) = self.modules.by_name.get_mut(&self.at) {
            module.items.insert(name.to_string());
        }
    }

    /// Every name that a `use` declares.
    fn note_imports(&mut self, before: &[String], tree: &UseTree) {
        let whole = |last: &syn::Ident| before.iter().cloned().chain([last.to_string()]).collect::<Name>();
        let (known_as, name) = match tree {
            UseTree::Path(path) => return self.note_imports(&whole(&path.ident), &path.tree),
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.note_imports(before, tree)),
            UseTree::Glob(_) => (None, before.to_vec()),
            UseTree::Name(name) if name.ident == "self" => (before.last().cloned(), before.to_vec()),
            UseTree::Name(name) => (Some(name.ident.to_string()), whole(&name.ident)),
            UseTree::Rename(rename) => (Some(rename.rename.to_string()), whole(&rename.ident)),
        };
        self.note_use(name.clone());
        let Some(module) = self.modules.by_name.get_mut(&self.at).filter(|_| !self.is_in_body) else { return };
        match known_as {
            Some(known_as) => drop(module.imports.insert(known_as, name)),
            None => module.globs.push(name),
        }
    }

    /// Paths among the tokens of a macro or an attribute, as far as they show that they are some.
    fn note_paths(&mut self, tokens: TokenStream, beginnings: &[&str]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let ident = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
            _ => None,
        };
        let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        for (at, token) in tokens.iter().enumerate() {
            if let TokenTree::Group(group) = token {
                self.note_paths(group.stream(), beginnings);
            }
            let Some(first) = ident(at).filter(|ident| beginnings.contains(&ident.as_str())) else { continue };
            let mut name = vec![first];
            while let Some(next) = ident(at + 3 * name.len()).filter(|_| is_colon(at + 3 * name.len() - 1)) {
                name.push(next);
            }
            self.note_use(name);
        }
    }

    fn visit_module(&mut self, module: &ItemMod) {
        let Some((_, items)) = &module.content else { return };
        self.at.push(module.ident.to_string());
        self.begin();
        items.iter().for_each(|item| self.visit_item(item));
        self.at.pop();
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Const(it) => (&it.attrs, Some(&it.ident)),
            Item::Enum(it) => (&it.attrs, Some(&it.ident)),
            Item::Fn(it) => (&it.attrs, Some(&it.sig.ident)),
            Item::Impl(it) => (&it.attrs, None),
            Item::Macro(it) => (&it.attrs, it.ident.as_ref()),
            Item::Mod(it) => (&it.attrs, None),
            Item::Static(it) => (&it.attrs, Some(&it.ident)),
            Item::Struct(it) => (&it.attrs, Some(&it.ident)),
            Item::Trait(it) => (&it.attrs, Some(&it.ident)),
            Item::Type(it) => (&it.attrs, Some(&it.ident)),
            Item::Use(it) => (&it.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if is_for_tests(attributes) {
            if let Item::Mod(module) = item {
                self.of_tests.push(tests_module(&self.file, &self.at, module));
            }
            return;
        }
        if let Some(name) = name.filter(|_| !self.is_in_body) {
            self.note_item(name);
        }
        match item {
            Item::Mod(module) => self.visit_module(module),
            Item::Use(import) => self.note_imports(&[], &import.tree),
            // Where it is called, another module is `super`.
            Item::Macro(rules) if rules.ident.is_some() => self.note_paths(rules.mac.tokens.clone(), &["crate"]),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let was_in_body = std::mem::replace(&mut self.is_in_body, true);
        visit::visit_block(self, block);
        self.is_in_body = was_in_body;
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // A name by itself was imported, and noted then.
        if path.segments.len() > 1 {
            self.note_use(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {
        // `pub(in crate::page)` uses nothing.
    }

    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        self.note_paths(tokens.clone(), &["crate", "super"]);
    }
}

/// The module that is for tests alone: of another file, if `#[path]` says so.
fn tests_module(file: &File, at: &Name, module: &ItemMod) -> Name {
    let path = module.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
    let path = path.and_then(|attribute| match &attribute.meta.require_name_value().ok()?.value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(path) => Some(path.value()),
            _ => None,
        },
        _ => None,
    });
    path.map_or_else(|| child(at, &module.ident.to_string()), |path| module_of(&file.path.with_file_name(path)))
}

/// Whether only tests compile what has these attributes.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    fn holds(condition: &Meta) -> bool {
        let all = Punctuated::<Meta, Token![,]>::parse_terminated;
        match condition {
            Meta::Path(path) => path.is_ident("test"),
            Meta::List(list) if list.path.is_ident("all") => {
                list.parse_args_with(all).is_ok_and(|conditions| conditions.iter().any(holds))
            }
            _ => false,
        }
    }
    let of_cfg =
        |attribute: &Attribute| attribute.path().is_ident("cfg") && attribute.parse_args().is_ok_and(|it: Meta| holds(&it));
    attributes.iter().any(|attribute| attribute.path().is_ident("test") || of_cfg(attribute))
}
