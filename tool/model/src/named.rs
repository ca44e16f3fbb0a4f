//! Plain enumerations of names: one table for each says what a value is called in options, documents and tables.

/// Declares an enumeration whose values are known by one fixed name each.
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $type:ident { $($(#[$value_meta:meta])* $value:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $type {
            $($(#[$value_meta])* #[serde(rename = $name)] $value,)+
        }

        impl $type {
            /// All of them, in the order in which they are shown.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// Its name in options, documents and tables.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }

            /// The one of this name.
            pub fn of_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.name() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
